import { spawn } from "node:child_process";
import { once } from "node:events";
import { linkSync, mkdirSync, readdirSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  bindLivenessSocket,
  isLivenessSocketOpen,
} from "../../../../src/core/files/file-lock/liveness-socket.js";
import { folderWith } from "../../../support/folder.js";

test.each(["short", "x".repeat(120)])(
  "a socket is open until it is closed, and then it is gone (%s)",
  async (name) => {
    const folder = join(folderWith(), name);
    mkdirSync(folder);
    const close = await bindLivenessSocket(folder, "a.sock");
    expect(await isLivenessSocketOpen(folder, "a.sock")).toBe(true);
    close();
    await expect.poll(() => readdirSync(folder)).toEqual([]);
    expect(await isLivenessSocketOpen(folder, "a.sock")).toBeUndefined();
  },
);

test("one whose process was killed is not open", async () => {
  const folder = folderWith();
  const server = createServer().listen(join(folder, "a.sock"));
  await new Promise((resolve) => server.once("listening", resolve));
  // A process that is killed leaves the name of its socket, as a hard link to it does.
  linkSync(join(folder, "a.sock"), join(folder, "left.sock"));
  await new Promise((resolve) => server.close(resolve));
  expect(await isLivenessSocketOpen(folder, "left.sock")).toBe(false);
});

test("one whose process is stopped, so that it accepts no more connections, is open", async () => {
  const folder = folderWith();
  const busy = `require("net").createServer().listen({ path: "a.sock", backlog: 1 }, () => {
    process.stdout.write("listens", () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60_000));
  });`;
  const child = spawn(process.execPath, ["-e", busy], { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  for (let i = 0; i < 5; i++) expect(await isLivenessSocketOpen(folder, "a.sock")).toBe(true);
  child.kill("SIGKILL");
  await once(child, "exit");
  expect(await isLivenessSocketOpen(folder, "a.sock")).toBe(false);
});

test("in a folder in which no socket can be bound nothing is known", async () => {
  (await bindLivenessSocket("/proc", "a.sock"))();
  expect(await isLivenessSocketOpen("/proc", "a.sock")).toBeUndefined();
});
