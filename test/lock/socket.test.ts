import { linkSync, mkdirSync, readdirSync, statfsSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isOpen, listen } from "../../src/lock/socket.js";
import { folderWith } from "../support/folder.js";

test.each(["short", "x".repeat(120)])(
  "a socket is open until it is closed, and then it is gone (%s)",
  async (name) => {
    const folder = join(folderWith(), name);
    mkdirSync(folder);
    const { dev } = statSync(folder);
    const witness = await listen(folder, "a.sock");
    expect(witness?.device).toBe(dev);
    expect(await isOpen(folder, "a.sock", dev)).toBe(true);
    witness?.close();
    await expect.poll(() => readdirSync(folder)).toEqual([]);
    expect(await isOpen(folder, "a.sock", dev)).toBeUndefined();
  },
);

test("one whose process was killed is not open, unless it may be another mount's", async () => {
  const folder = folderWith();
  const server = createServer().listen(join(folder, "a.sock"));
  await new Promise((resolve) => server.once("listening", resolve));
  const { dev } = statSync(folder);
  // A process that is killed leaves the name of its socket, as a hard link to it does.
  linkSync(join(folder, "a.sock"), join(folder, "left.sock"));
  await new Promise((resolve) => server.close(resolve));
  expect(await isOpen(folder, "left.sock", dev)).toBe(false);
  const isOverlay = statfsSync(folder).type === 0x794c7630;
  expect(await isOpen(folder, "left.sock", dev + 1)).toBe(isOverlay ? false : undefined);
});

test("a folder in which no socket can be bound gives none", async () => {
  expect(await listen("/proc", "a.sock")).toBeUndefined();
});
