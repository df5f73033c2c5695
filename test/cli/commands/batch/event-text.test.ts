import { expect, test } from "vitest";
import { lessonText, named, notSavedText, troubleText } from "../../../../src/cli/commands/batch/view.js";
import { UnreachableError } from "../../../../src/client/errors.js";
import { LocalError } from "../../../../src/store/files.js";
import type { LimitLesson } from "../../../../src/workflows/batch/create-pacer.js";
import type { RowState } from "../../../../src/workflows/batch/plan.js";

const state: RowState = {
  row: { id: "i", key: "acme", line: 3, body: { prompt: "p" }, digest: "d" },
  ...{ standing: "running", stem: "acme", status: "PENDING", requestId: "id-1", announce: "later" },
};

test("a row has its name, and a result that was not saved its id", () => {
  expect(named(state, "no")).toBe("acme: no");
  expect(notSavedText({ kind: "not-saved", state, error: new LocalError("disk full") })).toBe(
    "request id-1 exists and is NOT SAVED: disk full",
  );
});

test.each([
  ["create", undefined, "no answer; sending is tried again"],
  ["poll", undefined, "no answer; polling goes on"],
  ["fetch", undefined, "no answer; the result is asked for again"],
  ["fetch", state, "acme: no answer; the result is asked for again"],
] as const)("trouble with a %s", (activity, of, text) => {
  const error = new UnreachableError("UNREACHABLE", "no answer");
  expect(troubleText({ kind: "trouble", activity, error, ...(of && { state: of }) })).toBe(text);
});

const seen = (creates: string) =>
  `the service says that the hourly limit is reached; it came after ${creates} within the hour from this machine`;
test.each<[LimitLesson, string]>([
  [
    { used: 10, certainty: "exact" },
    `${seen("10 creates")}, so the limit is 10, which is kept from now on; --tier free prevents the refused create`,
  ],
  [
    { used: 1, certainty: "exact" },
    `${seen("1 create")}, so the limit is 1, which is kept from now on; --per-hour 1 prevents the refused create`,
  ],
  [
    { used: 7, certainty: "upper-bound" },
    `${seen("7 creates")}; if only this machine uses the key, pass --per-hour 7`,
  ],
  [
    { used: 0, certainty: "shared" },
    `${seen("0 creates")}, so others use the key; --tier or --per-hour counts at least what is sent from here`,
  ],
])("a 429 that says of the limit %j", (lesson, text) => {
  expect(lessonText(lesson)).toBe(text);
});
