import { once } from "node:events";
import { createServer } from "node:net";
import type { TestProject } from "vitest/node";
import { leftovers, undoLeftovers } from "./leftovers.js";
import { type TestPostgres, testPostgres } from "./postgres.js";

declare module "vitest" {
  interface ProvidedContext {
    /** Says the URL of one PostgreSQL server for all test files to whoever connects; nothing if there is none. */
    postgresPort: number;
  }
}

/** The server is started for the first test file that asks: most runs are of a few files. */
export default async function setup(project: TestProject): Promise<() => void> {
  let postgres: Promise<TestPostgres | undefined> | undefined;
  const door = createServer(async (socket) => {
    socket.on("error", () => {});
    // Test files run side by side, each with several stores.
    postgres ??= testPostgres(["max_connections=500"]);
    socket.end((await postgres)?.url ?? "");
  }).listen(0, "127.0.0.1");
  leftovers.add(() => door.close());
  await once(door, "listening");
  project.provide("postgresPort", (door.address() as { port: number }).port);
  return undoLeftovers;
}
