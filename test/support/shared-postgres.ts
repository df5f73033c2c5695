import { connect } from "node:net";
import { json } from "node:stream/consumers";
import { inject } from "vitest";
import { postgresAt, type TestPostgres } from "./postgres.js";
import type { SharedServer } from "./postgres-setup.js";

/** The PostgreSQL server that all test files of a run share. Rejects if it did not start. */
export async function sharedPostgres(): Promise<TestPostgres> {
  const { url, error } = (await json(connect(inject("postgresPort"), "127.0.0.1"))) as SharedServer;
  if (error !== undefined) throw new Error(error);
  return postgresAt(url);
}
