import { describe, expect, test } from "vitest";
import {
  buildRows,
  PromptTemplate,
  parseSchemaText,
  type RowOptions,
} from "../../../../../src/cli/commands/batch/input/build-rows.js";
import {
  type InputRecord,
  parseJsonLines,
} from "../../../../../src/cli/commands/batch/input/parse-formats.js";
import { computeRowDigest } from "../../../../../src/client/store/history/equal-creates.js";

const none: RowOptions = {
  template: undefined,
  schema: undefined,
  structured: false,
  schemaProblems: new Map(),
  takesModels: false,
  complete: (body) => body,
};

/** The rows of these records, one a line from 2 on. */
function made(fields: InputRecord["fields"][], options: Partial<RowOptions> = {}, columns?: string[]) {
  const records = fields.map((one, i) => ({ line: i + 2, fields: one }));
  return buildRows({ records, faults: [], ...(columns && { columns }) }, { ...none, ...options });
}
const reasons = (...given: Parameters<typeof made>) => made(...given).faults.map(({ reason }) => reason);

test("a model is invalid where the service takes none, unless the template uses the column", () => {
  expect(reasons([{ prompt: "q", model: "m" }])).toEqual([
    "it names a model, which the research interface does not support",
  ]);
  expect(reasons([{ prompt: "q", model: "" }])).toEqual([]);
  expect(reasons([{ model: "m" }], { template: new PromptTemplate("about {{model}}") }, ["model"])).toEqual(
    [],
  );
});

describe("a row", () => {
  test("is its prompt, its key and its line", () => {
    const { rows, faults } = made([{ prompt: "p", key: "a" }]);
    const body = { prompt: "p" };
    expect([rows, faults]).toEqual([
      [{ id: "key:a", key: "a", line: 2, body, digest: computeRowDigest(body) }],
      [],
    ]);
  });

  test("has a long number as its key with the digits that were read", () => {
    const text = '{"prompt":"p","key":12345678901234567890}\n{"prompt":"p","key":12345678901234567891}\n';
    const { rows, faults } = buildRows(parseJsonLines(`${text}{"prompt":"p","key":1.0}`), none);
    const keys = rows.map(({ key }) => key);
    expect([keys, faults]).toEqual([["12345678901234567890", "12345678901234567891", "1.0"], []]);
  });

  test.each<[string, InputRecord["fields"], Partial<RowOptions>, object]>([
    ["its own schema", { output_schema: { type: "array" } }, {}, { type: "array" }],
    ["its own schema as text", { output_schema: '{"type":"array"}' }, {}, { type: "array" }],
    ["the schema of all", {}, { schema: { type: "object" } }, { type: "object" }],
    ["its own before that of all", { output_schema: {} }, { schema: { type: "object" } }, {}],
  ])("is structured with %s", (_, fields, options, schema) => {
    const [row] = made([{ prompt: "p", ...fields }], options).rows;
    expect(row?.body).toEqual({ prompt: "p", structured_output: true, output_schema: schema });
  });

  test.each<[InputRecord["fields"], boolean, object]>([
    [{ structured_output: true }, false, { prompt: "p", structured_output: true }],
    [{ structured_output: "true" }, false, { prompt: "p" }],
    [{ output_schema: "" }, false, { prompt: "p" }],
    [{ output_schema: null }, true, { prompt: "p", structured_output: true }],
  ])("%j with --structured %s is sent as %j", (fields, structured, body) => {
    expect(made([{ prompt: "p", ...fields }], { structured }).rows[0]?.body).toEqual(body);
  });

  test.each([
    [7, "7"],
    ["", undefined],
    [null, undefined],
  ])("with the key %j has the key %j", (key, expected) => {
    expect(made([{ prompt: "p", key }]).rows[0]?.key).toBe(expected);
  });

  test("without a key is told apart from those that ask the same, and from no row with a key", () => {
    const digest = computeRowDigest({ prompt: "p" });
    const { rows } = made([{ prompt: "p" }, { prompt: "p", key: "a" }, { prompt: "p" }, { prompt: "q" }]);
    expect(rows.map(({ id }) => id)).toEqual([
      `ask:${digest}`,
      "key:a",
      `ask:${digest}:2`,
      `ask:${computeRowDigest({ prompt: "q" })}`,
    ]);
  });

  test("is filled from a template, whatever its prompt is", () => {
    const template = new PromptTemplate("About {{name}}.");
    expect(made([{ name: "A", prompt: 7 }], { template }).rows[0]?.body.prompt).toBe("About A.");
  });
});

describe("invalid:", () => {
  test.each<[InputRecord["fields"], string]>([
    [{ prompt: null }, "no prompt"],
    [{ prompt: "é".repeat((1 << 19) + 1) }, "the prompt is over 1 MiB"],
    [{ prompt: "p", key: true }, "the key is neither a string nor a number"],
    [{ prompt: "p", key: "k".repeat(201) }, "the key is too long to name a file"],
    [{ prompt: "p", output_schema: "{" }, "output_schema is not a JSON Schema: it must be a JSON object"],
    [{ prompt: "p", output_schema: { type: 1 } }, "output_schema is not a JSON Schema: at /type: odd"],
  ])("%.60j: %s", (fields, reason) => {
    const schemaProblems = new Map([['{"type":1}', "at /type: odd"]]);
    const { rows, faults } = made([fields], { schemaProblems });
    expect([rows, faults]).toEqual([[], [{ line: 2, reason }]]);
  });

  test("what just fits is valid", () => {
    const rows = [{ prompt: "p".repeat(1 << 20) }, { prompt: "p", key: "k".repeat(200) }];
    expect(made(rows).faults).toEqual([]);
  });

  test("all that is wrong with a row is named, and the other rows are made", () => {
    const { rows, faults } = made([{ prompt: 7, key: true }, { prompt: "p" }]);
    expect([rows.length, faults.map(({ line }) => line)]).toEqual([1, [2, 2]]);
  });
});

test("a missing column without a header line has no line", () => {
  expect(made([], {}, [])).toEqual({
    ...{ rows: [], faults: [{ reason: "the column `prompt` is missing; the header line is missing" }] },
  });
});

test("an input without a row is invalid, unless something else is", () => {
  expect(reasons([], {}, ["prompt"])).toEqual(["the input has no prompt"]);
  const faults = [{ line: 2, reason: "x" }];
  expect(buildRows({ records: [], faults, columns: ["prompt"] }, none).faults).toEqual(faults);
});

test("faults are in the order of their lines, those of the whole first", () => {
  const faults = [{ line: 9, reason: "late" }, { reason: "whole" }];
  const named = buildRows({ records: [{ line: 2, fields: {} }], faults }, none).faults;
  expect(named.map(({ line }) => line)).toEqual([undefined, 2, 9]);
});

test.each([
  ['{"a":1}', { a: 1 }],
  ["[]", undefined],
  ["null", undefined],
  ["7", undefined],
  ["{", undefined],
])("the schema of the text %s is %j", (text, schema) => {
  expect(parseSchemaText(text)).toEqual(schema);
});
