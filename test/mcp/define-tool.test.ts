import { describe, expect, test } from "vitest";
import { CodedError } from "../../src/app/errors.js";
import { CreateRefusedError, QuotaExceededError } from "../../src/client/workflows/errors.js";
import {
  buildInputSchema,
  describeToolFailure,
  field,
  listArgumentProblems,
} from "../../src/mcp/define-tool.js";

const FIELDS = {
  text: field.required(field.text("a")),
  flag: field.flag("b"),
  object: field.object("c"),
  whole: field.number("d", 1, 5),
  part: field.number("e", 0, 1, { isWhole: false }),
  ids: field.texts("f"),
  save_to: field.path("g"),
};

describe("arguments", () => {
  test.each<[object]>([
    [{ text: " a " }],
    [{ text: "a", flag: false }],
    [{ text: "a", object: {} }],
    [{ text: "a", whole: 1 }],
    [{ text: "a", whole: 5 }],
    [{ text: "a", part: 0 }],
    [{ text: "a", part: 0.5 }],
    [{ text: "a", part: 1 }],
    [{ text: "a", ids: ["a"] }],
    [{ text: "a", ids: Array(100).fill("a") }],
    [{ text: "a", save_to: "a b/ü.md" }],
    [{ text: "a", flag: undefined }],
  ])("%j fit", (given) => {
    expect(listArgumentProblems(FIELDS, { ...given })).toEqual([]);
  });

  test.each<[object, string]>([
    [{}, "text is missing, it must be a text that is not blank"],
    [{ text: " \n" }, "text must be a text that is not blank"],
    [{ text: 1 }, "text must be a text that is not blank"],
    [{ text: "a", flag: "true" }, "flag must be true or false"],
    [{ text: "a", object: [] }, "object must be an object"],
    [{ text: "a", object: null }, "object must be an object"],
    [{ text: "a", whole: 0 }, "whole must be a whole number from 1 to 5"],
    [{ text: "a", whole: 6 }, "whole must be a whole number from 1 to 5"],
    [{ text: "a", whole: 1.5 }, "whole must be a whole number from 1 to 5"],
    [{ text: "a", whole: "2" }, "whole must be a whole number from 1 to 5"],
    [{ text: "a", part: -0.1 }, "part must be a number from 0 to 1"],
    [{ text: "a", part: 1.1 }, "part must be a number from 0 to 1"],
    [{ text: "a", ids: [] }, "ids must be a list of 1 to 100 ids"],
    [{ text: "a", ids: Array(101).fill("a") }, "ids must be a list of 1 to 100 ids"],
    [{ text: "a", ids: ["a", 1] }, "ids must be a list of 1 to 100 ids"],
    [{ text: "a", ids: { length: 1 } }, "ids must be a list of 1 to 100 ids"],
    [{ text: "a", save_to: "" }, "save_to must be a path, without control characters"],
    [{ text: "a", save_to: "a\u0007" }, "save_to must be a path, without control characters"],
    [{ text: "a", save_to: "\u0007a" }, "save_to must be a path, without control characters"],
    [{ text: "a", save_to: 1 }, "save_to must be a path, without control characters"],
  ])("%j do not", (given, problem) => {
    expect(listArgumentProblems(FIELDS, { ...given })).toEqual([problem]);
  });

  test("each that does not fit is named, and one that there is not with those that there are", () => {
    const two = { text: FIELDS.text, flag: FIELDS.flag };
    expect(listArgumentProblems(two, { flag: 1, constructor: 1 })).toEqual([
      "text is missing, it must be a text that is not blank",
      "flag must be true or false",
      '"constructor" is not one of its arguments (text, flag)',
    ]);
  });
});

describe("the schema of what a tool takes", () => {
  test("names what must be given, and nothing else may be", () => {
    expect(buildInputSchema({ text: FIELDS.text, flag: FIELDS.flag }, false)).toEqual({
      type: "object",
      properties: {
        text: { type: "string", pattern: "\\S", description: "a" },
        flag: { type: "boolean", description: "b" },
      },
      required: ["text"],
      additionalProperties: false,
    });
    expect(buildInputSchema({ flag: FIELDS.flag }, false)).not.toHaveProperty("required");
  });

  test("has what needs a folder only where there is one", () => {
    const names = (hasFolder: boolean) => Object.keys(buildInputSchema(FIELDS, hasFolder).properties);
    expect(names(true)).toEqual(Object.keys(FIELDS));
    expect(names(false)).toEqual(Object.keys(FIELDS).filter((name) => name !== "save_to"));
  });
});

test.each<[unknown, string, string | undefined]>([
  [new CreateRefusedError("no-history"), "NOT_ALLOWED", "research config unset history"],
  [new CreateRefusedError("used-up"), "NOT_ALLOWED", "--max-creates"],
  [new QuotaExceededError(1, 5_000, 0), "RATE_LIMITED", "Call again after retry_after seconds"],
  [new CodedError("NOT_CONFIGURED", "m", { hint: "h" }), "NOT_CONFIGURED", "Ask the user"],
  [new CodedError("NOT_AUTHENTICATED", "m", { hint: "h" }), "NOT_AUTHENTICATED", "Ask the user"],
  [new CodedError("LOCAL_IO", "m", { hint: "the hint" }), "LOCAL_IO", "the hint"],
  [new CodedError("USAGE", "m"), "USAGE", undefined],
])("what an agent is told of %s", (error, code, hint) => {
  const failure = describeToolFailure(error);
  expect(failure.code).toBe(code);
  expect(failure.message).not.toBe("");
  if (hint === undefined) expect(failure.hint).toBeUndefined();
  else expect(failure.hint).toContain(hint);
});
