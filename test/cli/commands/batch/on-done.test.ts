import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { machine } from "../../../support/machine.js";

const TELL = `echo "$RESEARCH_REQUEST_ID $RESEARCH_STATUS $(basename "$RESEARCH_RESULT_FILE")"`;

test("watch runs --on-done once for each id that ended; what it prints goes to stderr", async () => {
  const { run, service } = await machine();
  const ids = ["a => COMPLETED", "b => PENDING FAILED", "c => STOPPED"].map((prompt) => service.add(prompt));
  const { code, stdout, stderr } = await run("watch", ...ids, "--on-done", TELL);
  expect(code).toBe(3);
  expect(stdout.trim().split("\n").sort()).toEqual(
    [`${ids[0]}\tCOMPLETED`, `${ids[1]}\tFAILED`, `${ids[2]}\tSTOPPED`].sort(),
  );
  for (const [id, status] of [
    [ids[0], "COMPLETED"],
    [ids[1], "FAILED"],
    [ids[2], "STOPPED"],
  ]) {
    expect(stderr.split(`${id} ${status} \n`)).toHaveLength(2);
  }
});

test("watch says how many of several are not finished when the time is over, in the queue or not", async () => {
  const { run, service } = await machine();
  const ids = [service.add("a => PENDING"), service.add("b => PROCESSING"), service.add("c => COMPLETED")];
  const { code, stderr } = await run("watch", ...ids, "--timeout", "1h");
  expect([code, stderr]).toEqual([8, expect.stringContaining("2 of 3 are not finished after 1h")]);
});

test("run tells the file that the result went to, and keeps its environment", async () => {
  const { run, home, env } = await machine();
  env.MINE = "kept";
  env.RESEARCH_RESULT_FILE = "of somebody else";
  const file = join(home, "answer.md");
  const { code, stderr } = await run(
    "run",
    "tides",
    "-o",
    file,
    "--on-done",
    `cat "$RESEARCH_RESULT_FILE"; echo; echo $MINE`,
  );
  expect(code).toBe(0);
  expect(stderr).toContain(`${readFileSync(file, "utf8")}\nkept\n`);
  const failed = await run("run", "tides => FAILED", "-o", join(home, "b.md"), "--on-done", TELL);
  expect(failed).toMatchObject({ code: 3, stderr: expect.stringMatching(/ FAILED \n/) });
});

test("the command gets nothing of what a service is configured with", async () => {
  const { run, home, env } = await machine();
  Object.assign(env, {
    RESEARCH_SERVE_API_KEY: "a",
    RESEARCH_MODEL_API_KEY: "b",
    RESEARCH_SEARCH_API_KEY: "s",
    PGPASSWORD: "c",
    MINE: "kept",
  });
  const { stderr } = await run("run", "tides", "-o", join(home, "answer.md"), "--on-done", "env");
  expect(stderr).toContain("MINE=kept");
  expect(stderr).not.toMatch(/RESEARCH_SERVE_|RESEARCH_MODEL_|RESEARCH_SEARCH_|PGPASSWORD/);
});

test("a command that fails is a notice and turns 0 into 1, and nothing else", async () => {
  const { run, service } = await machine();
  const fine = await run("watch", service.add("a => COMPLETED"), "--on-done", "exit 7");
  expect(fine).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/note: --on-done failed for .*: it ended with 7\n/),
  });
  expect(fine.stderr.split("error: the command of --on-done failed once\n")).toHaveLength(2);
  const json = await run("run", "b => COMPLETED", "--json", "--on-done", "exit 3");
  expect(json.code).toBe(1);
  const errors = json.stderr.split("\n").filter((line) => line.startsWith('{"error"'));
  expect(errors.map((line) => JSON.parse(line).error)).toMatchObject([{ code: "INTERNAL", exit_code: 1 }]);
  expect((await run("watch", service.add("a => FAILED"), "--on-done", "kill -9 $$")).code).toBe(3);
});

test("in JSON mode what it prints is JSON too", async () => {
  const { run, service } = await machine();
  const { stderr } = await run(
    "watch",
    service.add("a => COMPLETED"),
    "--json",
    "--on-done",
    "echo one; echo two >&2; exit 1",
  );
  const notices = stderr
    .trim()
    .split("\n")
    .flatMap((line) => JSON.parse(line).notice ?? []);
  expect(notices.map(({ code }) => code).sort()).toEqual(["ON_DONE", "ON_DONE", "ON_DONE_FAILED"]);
});
