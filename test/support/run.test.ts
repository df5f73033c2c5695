import { existsSync, readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { folderWith } from "./folder.js";
import { bash, startBash } from "./run.js";

test("a program sees an empty home and nothing else of this environment", async () => {
  process.env.RESEARCH_API_KEY = "not for children";
  const { code, stdout } = await bash("ls -A ~; pwd; env | cut -d= -f1 | sort | tr '\\n' ' '", {
    env: { EXTRA: "1", TZ: undefined },
  });
  delete process.env.RESEARCH_API_KEY;
  expect(code).toBe(0);
  expect(stdout).toMatch(/^\/\S+\n/);
  expect(stdout.split("\n")[1]?.trim().split(" ")).toEqual([
    "EXTRA",
    "HOME",
    "LANG",
    "PATH",
    "PWD",
    "SHLVL",
    "_",
  ]);
});

test("code, streams and input are passed on whole", async () => {
  const input = "é".repeat(100_000);
  const run = await bash("cat; echo oops >&2; exit 7", { input });
  expect(run).toEqual({ code: 7, signal: null, stdout: input, stderr: "oops\n" });
});

test("a signal shows as one", async () => {
  const running = startBash("echo up; sleep 20");
  await running.waitFor(/^up$/m);
  running.kill("SIGTERM");
  expect(await running.done).toMatchObject({ code: null, signal: "SIGTERM" });
});

test("waiting for what cannot come rejects at once, and a late program is killed", async () => {
  const quick = startBash("echo no");
  await expect(quick.waitFor(/yes/)).rejects.toThrow("it ended");
  const slow = startBash("sleep 20", { timeoutMs: 100 });
  await expect(slow.waitFor(/x/, { timeoutMs: 50 })).rejects.toThrow("50 ms passed");
  await expect(slow.done).rejects.toThrow("still running");
  expect(() => process.kill(slow.pid, 0)).toThrow();
});

test("a temporary folder is empty", () => {
  const folder = folderWith();
  expect(existsSync(folder)).toBe(true);
  expect(readdirSync(folder)).toEqual([]);
});
