import { describe, expect, test } from "vitest";
import {
  buildIntent,
  buildNotCreatedEntry,
  type CreatedRecord,
  findStartTime,
  hashApiKey,
  parseHistoryLine,
  sumCosts,
  sumTokens,
} from "../../../../src/client/store/history/history-records.js";
import { stringifyExact } from "../../../../src/core/json/exact-json.js";

const CREATED = {
  ...{ kind: "created", local_id: "local-1", request_id: "id-1", origin: "https://a.example", prompt: "x" },
  ...{ sent_at: "2030-01-01T00:00:00Z", at: "2030-01-01T00:00:01Z" },
};
const STATUS = { kind: "status", request_id: "id-1", origin: "o", status: "COMPLETED", at: "t" };
const DISMISSED = { kind: "dismissed", local_id: "local-1", origin: "o", at: "t", code: "NO" };
const REDATED = { kind: "redated", local_id: "local-1", origin: "o", at: "t" };

describe("a line", () => {
  test("is read with what a later version may add, and without what an earlier one left out", () => {
    expect(parseHistoryLine(JSON.stringify({ ...CREATED, later: 1 }))).toEqual({
      ...{ ...CREATED, later: 1, profile: null, key_id: "", status: "PENDING", created_at: null },
      ...{ structured_output: false, output_schema: null },
    });
    expect(parseHistoryLine(Buffer.from(JSON.stringify({ ...STATUS, duration_ms: 5 })))).toMatchObject({
      duration_ms: 5,
    });
    expect(parseHistoryLine(JSON.stringify(DISMISSED))).toEqual({ ...DISMISSED, key_id: "" });
    expect(parseHistoryLine(JSON.stringify(REDATED))).toEqual({ ...REDATED, key_id: "" });
  });

  test.each([
    ['{"type":"object","multipleOf":1.0}', '{"type":"object","multipleOf":1.0}'],
    ["[]", "null"],
    ['"text"', "null"],
    ["7", "null"],
    ["null", "null"],
  ])("with the schema %s has %s, number by number", (schema, expected) => {
    const read = parseHistoryLine(`${JSON.stringify(CREATED).slice(0, -1)},"output_schema":${schema}}`);
    expect(stringifyExact((read as CreatedRecord).output_schema)).toBe(expected);
  });

  test.each([
    '{"kind":"created"',
    "[]",
    "null",
    "7",
    "{}",
    '{"kind":7}',
    '{"kind":"created"}',
    JSON.stringify({ ...CREATED, request_id: "../x" }),
    JSON.stringify({ ...CREATED, local_id: ".." }),
    JSON.stringify({ ...STATUS, status: 1 }),
    JSON.stringify({ ...DISMISSED, code: undefined }),
    JSON.stringify({ ...REDATED, at: 1 }),
  ])("%s is torn", (text) => {
    expect(parseHistoryLine(text)).toBeUndefined();
  });

  test("of a kind that a later version may know is no torn one", () => {
    expect(parseHistoryLine('{"kind":"later"}')).toBe("other");
  });
});

test("an intent has the request's fields, a name of its own and no key", () => {
  const body = { prompt: "x", structured_output: true, output_schema: { type: "object" } } as const;
  const attempt = { origin: "https://a.example", profile: "work", apiKey: "secret", body };
  const [one, two] = [
    buildIntent(attempt, "2030-01-01T00:00:00Z"),
    buildIntent(attempt, "2030-01-01T00:00:00Z"),
  ];
  expect(one).toMatchObject({ kind: "intent", origin: "https://a.example", profile: "work", ...body });
  expect(one.local_id).toMatch(/^local-[0-9a-f]{12}$/);
  expect(one.local_id).not.toBe(two.local_id);
  expect(one.key_id).toBe(hashApiKey("secret"));
  expect(JSON.stringify(one)).not.toContain("secret");
  expect(buildIntent({ ...attempt, body: { prompt: "y" } }, "")).toMatchObject({
    ...{ structured_output: false, output_schema: null },
  });
});

test("the entry of a create that was never made has the intent's fields, its state and no id", () => {
  const { kind: _, ...record } = buildIntent(
    { origin: "https://a.example", profile: "work", apiKey: "k", body: { prompt: "x" } },
    "2030-01-01T00:00:00Z",
  );
  expect(buildNotCreatedEntry({ ...record, kind: "not-created", at: "t" })).toEqual({
    ...{ ...record, request_id: null, status: "NOT_CREATED", created_at: null },
  });
});

test("a key's id is the start of its digest", () => {
  expect(hashApiKey("k")).toBe("8254c329a928");
  expect(hashApiKey("l")).not.toBe(hashApiKey("k"));
});

test.each([
  ["2030-01-01T00:00:00Z", Date.UTC(2030, 0, 1)],
  [null, Date.UTC(2029, 0, 1)],
  ["soon", Date.UTC(2029, 0, 1)],
  ["2028-12-25T00:00:00Z", Date.UTC(2029, 0, 1)],
])("a request with the time %s began then, but not before it was sent", (created_at, expected) => {
  expect(findStartTime({ created_at, sent_at: "2029-01-01T00:00:00Z" })).toBe(expected);
});

test.each([
  [{ input_tokens: 3, output_tokens: 4, total_tokens: 9 }, 7],
  [{ output_tokens: 4 }, 4],
  [{ total_tokens: 9 }, 9],
  [{ input_tokens: "3", total_tokens: "9" }, undefined],
  [undefined, undefined],
])("the tokens of the usage %j are %j", (usage, tokens) => {
  expect(sumTokens(usage)).toBe(tokens);
});

test("dollars add up to the digits that they have", () => {
  expect([sumCosts([0.1, 0.1, 0.1]), sumCosts([12_345_678, 0]), sumCosts([])]).toEqual([
    0.3,
    12_345_678,
    undefined,
  ]);
});
