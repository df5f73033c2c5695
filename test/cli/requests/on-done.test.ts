import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { OnDone } from "../../../src/cli/requests/on-done.js";
import type { Host } from "../../../src/cli/terminal/host.js";
import type { Reporter } from "../../../src/cli/terminal/reporter.js";
import { systemClock } from "../../../src/ground/clock.js";
import { folderWith } from "../../support/folder.js";

const A = { requestId: "a", status: "COMPLETED" } as const;
const B = { requestId: "b", status: "FAILED" } as const;

function onDone(command: string, json = false) {
  const said: string[] = [];
  const control = new AbortController();
  const reporter: Partial<Reporter> = {
    json,
    say: async (text) => void said.push(text),
    notice: async (code, message) => void said.push(`${code}: ${message}`),
    error: async ({ code, message }) => void said.push(`${code}: ${message}`),
  };
  const env = { PATH: process.env.PATH, RESEARCH_SERVE_API_KEY: "secret" };
  const host = { env, clock: systemClock } as unknown as Host;
  const terminal = { host, reporter: reporter as Reporter, signal: control.signal };
  const made = OnDone.of(terminal, command);
  if (!made) throw new Error("no command");
  return { made, said, control };
}

test("without a command nothing is run", () => {
  expect(OnDone.of({} as never, undefined)).toBeUndefined();
});

test("the command knows the request, and none of the service's secrets", async () => {
  const { made, said } = onDone(
    'echo "$RESEARCH_REQUEST_ID $RESEARCH_STATUS $RESEARCH_RESULT_FILE $RESEARCH_SERVE_API_KEY."',
  );
  made.run({ ...A, file: "out/a.md" });
  expect(await made.settle(0)).toBe(0);
  expect(said).toEqual([`a COMPLETED ${resolve("out/a.md")} .`]);
});

test("one command runs after the other, and what follows it is called when it has ended", async () => {
  const log = join(folderWith(), "log");
  const { made } = onDone(
    `echo "$RESEARCH_REQUEST_ID+" >> ${log}; sleep 0.1; echo "$RESEARCH_REQUEST_ID-" >> ${log}`,
  );
  const after: string[] = [];
  for (const done of [A, B]) made.run(done, () => after.push(readFileSync(log, "utf8").replaceAll("\n", "")));
  await made.drain();
  expect(after).toEqual(["a+a-", "a+a-b+b-"]);
});

test.each([
  ["exit 0", 0, 0, []],
  [
    "exit 3",
    0,
    1,
    [
      "ON_DONE_FAILED: --on-done failed for a: it ended with 3",
      "INTERNAL: the command of --on-done failed once",
    ],
  ],
  ["kill -9 $$", 8, 8, ["ON_DONE_FAILED: --on-done failed for a: it died of SIGKILL"]],
])("%s: of %i it makes %i", async (command, code, expected, lines) => {
  const { made, said } = onDone(command);
  made.run(A);
  expect(await made.settle(code)).toBe(expected);
  expect(said).toEqual(lines);
});

test("for a program what it prints is a notice", async () => {
  const { made, said } = onDone("echo out; echo err >&2", true);
  made.run(A);
  await made.settle(0);
  expect(said.sort()).toEqual(["ON_DONE: err", "ON_DONE: out"]);
});

test("after an interruption nothing more is run, and nothing is waited for", async () => {
  const { made, control } = onDone("exit 0");
  control.abort();
  made.run(A, () => expect.unreachable());
  expect(await made.settle(0)).toBe(0);
});
