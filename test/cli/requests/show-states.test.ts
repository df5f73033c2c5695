import { describe, expect, test } from "vitest";
import type { Failure } from "../../../src/app/describe-failure.js";
import { formatStatusLine, formatStatusWord, showStates } from "../../../src/cli/requests/show-states.js";
import type { Reporter } from "../../../src/cli/terminal/reporter.js";
import { PLAIN } from "../../../src/cli/terminal/style.js";
import { ResearchError } from "../../../src/client/calls/errors.js";
import type { StateResult } from "../../../src/client/workflows/find-and-query-requests.js";
import { LocalError } from "../../../src/core/files/local-error.js";
import { accountWith } from "../../support/account.js";
import { NAMED } from "../../support/style.js";

const answered = (requestId: string, status: string): StateResult => ({
  ...{
    kind: "answered",
    target: { requestId, entry: undefined, account: accountWith({}) },
    data: { status },
    notObserved: undefined,
  },
});
const failed = (requestId: string): StateResult => ({
  ...{
    kind: "failed",
    target: { requestId, entry: undefined, account: accountWith({}) },
    error: new ResearchError("UNREACHABLE", "m"),
  },
});

/** What is written where. */
function recorder(json: boolean) {
  const written = { stdout: [] as unknown[], stderr: [] as unknown[] };
  const write = async (value: unknown) => void written.stdout.push(value);
  const reporter: Partial<Reporter> = {
    ...{ json, loadStyle: async () => PLAIN, writeResult: write, writeResultJson: write },
    writeNotice: async (code) => void written.stderr.push(code),
    writeError: async (failure: Failure) => void written.stderr.push(failure),
  };
  return { written, reporter: reporter as Reporter };
}

describe("answers about several requests", () => {
  test("are a line each, errors on stderr, and each has its exit code", async () => {
    const { written, reporter } = recorder(false);
    const answers = [answered("a", "COMPLETED"), failed("b"), answered("c", "FAILED")];
    expect(await showStates(reporter, 3, answers, { exitStatus: true })).toBe(9);
    expect(await showStates(reporter, 3, answers.slice(2), { exitStatus: true })).toBe(3);
    expect(await showStates(reporter, 3, answers.slice(0, 1), { exitStatus: true })).toBe(0);
    written.stdout.splice(2);
    written.stderr.splice(1);
    expect(written.stdout).toEqual(["a\tCOMPLETED\n", "c\tFAILED\n"]);
    expect(written.stderr).toMatchObject([{ code: "UNREACHABLE", request_id: "b" }]);
  });

  // scripts.test.ts has bare states, stop.test.ts a closed pipe.
  test.each([
    [1, { status: "STOPPED", request_id: "a" }],
    [2, [{ status: "STOPPED", request_id: "a" }]],
  ])("of %i named are one JSON value, each with its id", async (count, expected) => {
    const { written, reporter } = recorder(true);
    await showStates(reporter, count, [answered("a", "STOPPED")]);
    expect(written.stdout).toMatchObject([expected]);
  });

  test("are not lost to a program where an interruption ends them", async () => {
    const { written, reporter } = recorder(true);
    async function* answers() {
      yield answered("a", "STOPPED");
      throw new Error("interrupted");
    }
    await expect(showStates(reporter, 2, answers())).rejects.toThrow("interrupted");
    expect(written.stdout).toMatchObject([[{ request_id: "a", status: "STOPPED" }]]);
  });

  test("any other error of stdout is thrown", async () => {
    const { reporter } = recorder(false);
    reporter.writeResult = () => Promise.reject(new LocalError("the disk is full"));
    await expect(showStates(reporter, 1, [answered("a", "STOPPED")])).rejects.toThrow("the disk is full");
  });

  test("a state that could not be kept is said", async () => {
    const { written, reporter } = recorder(false);
    const answer = { ...answered("a", "STOPPED"), notObserved: new LocalError("full") } as StateResult;
    await showStates(reporter, 1, [answer]);
    expect(written.stderr).toHaveLength(1);
    expect(written.stdout).toEqual(["a\tSTOPPED\n"]);
  });
});

test.each([
  ["COMPLETED", "<good>COMPLETED</>"],
  ["FAILED", "<bad>FAILED</>"],
  ["UNKNOWN", "<bad>UNKNOWN</>"],
  ["STOPPED", "<dim>STOPPED</>"],
  ["PENDING", "<busy>PENDING</>"],
  ["A\nB\u001b", "<busy>A B\\u{1b}</>"],
])("%j is shown as %s", (status, word) => {
  expect(formatStatusWord(status, NAMED)).toBe(word);
  expect(formatStatusLine("id", status, NAMED, 80)).toBe(`id\t${word}`);
});

test.each([
  [27, "id-0123456789\tFAILED"],
  [26, "id-0123456789  FAILED"],
  [20, "id-01234567…  FAILED"],
])("in %i columns an id of 13 with its state stands as %j", (columns, line) => {
  expect(formatStatusLine("id-0123456789", "FAILED", PLAIN, columns)).toBe(line);
});
