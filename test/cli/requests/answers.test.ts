import { describe, expect, test } from "vitest";
import { showAnswers } from "../../../src/cli/requests/answers.js";
import { ClosedPipe, type Reporter } from "../../../src/cli/terminal/reporter.js";
import { PLAIN } from "../../../src/cli/terminal/style.js";
import { ResearchError } from "../../../src/client/calls/errors.js";
import type { StateAnswer } from "../../../src/client/workflows/requests.js";
import { LocalError } from "../../../src/ground/files/local-error.js";
import type { Failure } from "../../../src/machine/failure.js";

const answered = (requestId: string, status: string): StateAnswer => ({
  ...{ kind: "answered", target: { requestId, entry: undefined }, data: { status }, notObserved: undefined },
});
const failed = (requestId: string): StateAnswer => ({
  ...{
    kind: "failed",
    target: { requestId, entry: undefined },
    error: new ResearchError("UNREACHABLE", "m"),
  },
});

/** What is written where; `closesAfter` lines nobody reads stdout any more. */
function recorder(json: boolean, closesAfter = Number.POSITIVE_INFINITY) {
  const written = { stdout: [] as unknown[], stderr: [] as string[] };
  const write = async (value: unknown) => {
    if (written.stdout.length >= closesAfter) throw new ClosedPipe();
    written.stdout.push(value);
  };
  const reporter: Partial<Reporter> = {
    ...{ json, style: async () => PLAIN, result: write, resultJson: write },
    notice: async (code) => void written.stderr.push(code),
    error: async (failure: Failure) => void written.stderr.push(`${failure.code} ${failure.request_id}`),
  };
  return { written, reporter: reporter as Reporter };
}

describe("answers about several requests", () => {
  test("are a line each, errors on stderr, and each has its exit code", async () => {
    const { written, reporter } = recorder(false);
    const answers = [answered("a", "COMPLETED"), failed("b"), answered("c", "FAILED")];
    const exitCode = (status: string) => (status === "FAILED" ? 3 : 0);
    expect(await showAnswers(reporter, 3, answers, { exitCode })).toBe(9);
    expect(await showAnswers(reporter, 3, answers.slice(2), { exitCode })).toBe(3);
    expect(await showAnswers(reporter, 3, answers.slice(0, 1), { exitCode })).toBe(0);
    written.stdout.splice(2);
    written.stderr.splice(1);
    expect(written.stdout).toEqual(["a\tCOMPLETED\n", "c\tFAILED\n"]);
    expect(written.stderr).toEqual(["UNREACHABLE b"]);
  });

  test("are the bare states if that is asked for", async () => {
    const { written, reporter } = recorder(false);
    await showAnswers(reporter, 1, [answered("a", "PENDING")], { quiet: true });
    expect(written.stdout).toEqual(["PENDING\n"]);
  });

  test.each([
    [1, { status: "STOPPED", request_id: "a" }],
    [2, [{ status: "STOPPED", request_id: "a" }]],
  ])("of %i named are one JSON value at the end, each with its id", async (count, expected) => {
    const { written, reporter } = recorder(true);
    async function* answers() {
      yield answered("a", "STOPPED");
      expect(written.stdout).toEqual([]);
    }
    await showAnswers(reporter, count, answers());
    expect(written.stdout).toMatchObject([expected]);
  });

  test("a closed pipe takes no more of them and ends nothing", async () => {
    const { written, reporter } = recorder(false, 1);
    const answers = ["a", "b", "c"].map((id) => answered(id, "STOPPED"));
    expect(await showAnswers(reporter, 3, answers)).toBe(0);
    expect(written.stdout).toEqual(["a\tSTOPPED\n"]);
  });

  test("any other error of stdout is thrown", async () => {
    const { reporter } = recorder(false);
    reporter.result = () => Promise.reject(new LocalError("the disk is full"));
    await expect(showAnswers(reporter, 1, [answered("a", "STOPPED")])).rejects.toThrow("the disk is full");
  });

  test("a state that could not be kept is said", async () => {
    const { written, reporter } = recorder(false);
    const answer = { ...answered("a", "STOPPED"), notObserved: new LocalError("full") } as StateAnswer;
    await showAnswers(reporter, 1, [answer]);
    expect(written.stderr).toHaveLength(1);
    expect(written.stdout).toEqual(["a\tSTOPPED\n"]);
  });
});
