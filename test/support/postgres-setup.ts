import { once } from "node:events";
import { createServer } from "node:net";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { folderWith } from "./folder.js";
import { leftovers, undoLeftovers } from "./leftovers.js";
import { testPostgres } from "./postgres.js";

declare module "vitest" {
  interface ProvidedContext {
    /** Says a `SharedServer` in JSON to whoever connects. */
    postgresPort: number;
  }
}

/** The URL of one PostgreSQL server for all test files, if there is one, or why it did not start. */
export type SharedServer = { url?: string; error?: string };

/** The server is started for the first test file that asks: most runs are of a few files. */
export default async function setup(project: TestProject): Promise<() => void> {
  // For the workers, which are started later: where the first empty cluster is kept.
  process.env.TEST_EMPTY_CLUSTER = join(folderWith(), "data");
  let shared: Promise<SharedServer> | undefined;
  const start = () =>
    // Test files run side by side, each with several stores.
    testPostgres(["max_connections=500"]).then(
      ({ postgres }) => ({ ...(postgres && { url: postgres.url }) }),
      (error: unknown) => ({ error: String(error) }),
    );
  const door = createServer(async (socket) => {
    socket.on("error", () => {});
    shared ??= start();
    socket.end(JSON.stringify(await shared));
  }).listen(0, "127.0.0.1");
  leftovers.add(() => door.close());
  await once(door, "listening");
  project.provide("postgresPort", (door.address() as { port: number }).port);
  return undoLeftovers;
}
