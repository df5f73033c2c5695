import { spawn } from "node:child_process";
import { leftovers } from "./leftovers.js";

const SCRIPT = `
  const server = require("node:net").createServer((socket) => socket.resetAndDestroy());
  server.listen(0, "127.0.0.1", () => console.log(server.address().port));
`;

let started: Promise<string> | undefined;

/**
 * The base URL of a server that resets each connection as soon as it is accepted. In a process that has nothing
 * else to do: the one that runs the tests may be busy for longer than a create waits for the reset.
 */
export function resettingUrl(): Promise<string> {
  started ??= start();
  return started;
}

function start(): Promise<string> {
  const server = spawn(process.execPath, ["-e", SCRIPT]);
  leftovers.add(() => void server.kill("SIGKILL"));
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.stdout.once("data", (port: Buffer) => resolve(`http://127.0.0.1:${String(port).trim()}`));
  });
}
