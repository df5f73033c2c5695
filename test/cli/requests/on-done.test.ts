import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { OnDone } from "../../../src/cli/requests/on-done.js";
import type { Host } from "../../../src/cli/terminal/host.js";
import type { Reporter } from "../../../src/cli/terminal/reporter.js";
import { systemClock } from "../../../src/core/clock.js";
import { folderWith } from "../../support/folder.js";

const A = { requestId: "a", status: "COMPLETED" } as const;
const B = { requestId: "b", status: "FAILED" } as const;

function onDone(command: string) {
  const control = new AbortController();
  const host = { env: { PATH: process.env.PATH }, clock: systemClock } as unknown as Host;
  const made = OnDone.create({ host, reporter: {} as Reporter, signal: control.signal }, command);
  if (!made) throw new Error("no command");
  return { made, control };
}

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

test("after an interruption nothing more is run, and nothing is waited for", async () => {
  const { made, control } = onDone("exit 0");
  control.abort();
  made.run(A, () => expect.unreachable());
  expect(await made.settle(0)).toBe(0);
});
