import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { folderWith } from "../support/folder.js";
import { HappyService } from "../support/happy-service.js";
import { filesWith, foldersIn, listed } from "../support/home.js";
import { inProcess } from "../support/in-process.js";
import { jsonLines } from "../support/world.js";

/**
 * What the program of commit 6410645 left behind: a batch of three rows, of which one still ran, and a request of its
 * own with a schema. The address of the service stands in for that of each run.
 */
const MADE = join(import.meta.dirname, "kept-files");
const MADE_AT = "http://127.0.0.1:4242";
const RUNNING = "1e6dd2a7-1d11-4570-9828-4ef7264e89c9";

test("a batch folder and a history of commit 6410645 are gone on with, and nothing is sent again", async () => {
  const there = await HappyService.start();
  const home = folderWith();
  cpSync(MADE, home, { recursive: true });
  for (const path of filesWith(home, MADE_AT))
    writeFileSync(path, readFileSync(path, "utf8").replaceAll(MADE_AT, there.url));
  there.conversations.set(RUNNING, {
    ...{
      prompt: "two",
      timeline: ["COMPLETED"],
      polls: 0,
      createdAt: new Date().toISOString(),
      schema: undefined,
    },
  });
  const env = { HOME: home, ...foldersIn(home), ...there.env };
  const before = await listed(home);
  expect(before.map(({ prompt, status }) => [prompt, status])).toEqual([
    ["four => PENDING PROCESSING", "PENDING"],
    ["three, a longer one => COMPLETED", "COMPLETED"],
    ["two => PENDING PROCESSING", "PROCESSING"],
    ["one => COMPLETED", "COMPLETED"],
  ]);
  const out = join(home, "out");
  const kept = readFileSync(join(out, "line-2.md"), "utf8");
  const seen = await inProcess(["batch", join(home, "rows.csv"), "--out", out, "--json"], { env });
  expect(seen.code, seen.stderr).toBe(0);
  expect(jsonLines(seen.stdout).at(-1)).toMatchObject({ summary: { rows: 3, done: 3 } });
  expect(readFileSync(join(out, "line-2.md"), "utf8")).toBe(kept);
  expect(readFileSync(join(out, "line-3.md"), "utf8")).toContain("An answer to: two");
  const after = await listed(home);
  expect(after.map(({ request_id }) => request_id)).toEqual(before.map(({ request_id }) => request_id));
  expect(there.server.count("create")).toBe(0);
});
