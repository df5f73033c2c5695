import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { inject } from "vitest";
import { newDatabase, type TestPostgres } from "./postgres.js";

/** The PostgreSQL server that all test files of a run share (see postgres-setup.ts); undefined if there is none. */
export async function sharedPostgres(): Promise<Pick<TestPostgres, "database"> | undefined> {
  const url = await text(connect(inject("postgresPort"), "127.0.0.1"));
  return url === "" ? undefined : { database: () => newDatabase(url) };
}
