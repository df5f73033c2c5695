import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import {
  getMaxResponseBytes,
  parseResponseBody,
  salvageRequestId,
} from "../../../src/client/calls/parse-response-body.js";
import { createInterfaceDialect } from "../../../src/client/dialects/research-interface.js";

const salvage = (bytes: Parameters<typeof salvageRequestId>[0]) =>
  salvageRequestId(bytes, createInterfaceDialect());
const JSON_TEXT = '{"a":1}';
const answer = (body: Buffer | string, encoding?: string) => ({
  body: Buffer.from(body),
  headers: encoding === undefined ? {} : { "content-encoding": encoding },
});

test.each([
  ["create", 1 << 20],
  ["status", 1 << 20],
  ["stop", 1 << 20],
  ["output", 64 << 20],
] as const)("of the answer to %s at most %d bytes are read", (operation, bytes) => {
  expect(getMaxResponseBytes(operation, createInterfaceDialect())).toBe(bytes);
});

test.each<[string | undefined, Buffer]>([
  [undefined, Buffer.from(JSON_TEXT)],
  ["", Buffer.from(JSON_TEXT)],
  ["identity", Buffer.from(JSON_TEXT)],
  ["gzip", gzipSync(JSON_TEXT)],
  [" GZip ", gzipSync(JSON_TEXT)],
  ["x-gzip", gzipSync(JSON_TEXT)],
  ["deflate", deflateSync(JSON_TEXT)],
  ["br", brotliCompressSync(JSON_TEXT)],
])("a body with the encoding %j is read", (encoding, body) => {
  expect(parseResponseBody(answer(body, encoding), 1_000)).toEqual({ kind: "json", value: { a: 1 } });
});

test("a byte order mark is no part of the JSON", () => {
  expect(parseResponseBody(answer(`\ufeff${JSON_TEXT}`), 1_000)).toMatchObject({ kind: "json" });
});

test.each([
  ["no JSON", answer("<html>")],
  ["nothing", answer("")],
  ["what is not compressed as it says", answer(JSON_TEXT, "gzip")],
  ["JSON that breaks off", answer('{"a":')],
])("%s holds no value", (_, body) => {
  expect(parseResponseBody(body, 1_000)).toEqual({ kind: "none" });
});

describe("oversized is", () => {
  const zeros = Buffer.from(`"${"0".repeat(2_000)}"`);
  test.each([
    ["gzip", gzipSync(zeros)],
    ["deflate", deflateSync(zeros)],
    ["br", brotliCompressSync(zeros)],
  ])("what is larger than the limit after %s", (encoding, body) => {
    expect(parseResponseBody(answer(body, encoding), 2_001)).toEqual({ kind: "oversized" });
    expect(parseResponseBody(answer(body, encoding), 2_002)).toMatchObject({ kind: "json" });
  });

  test("what nests deeper than 1,000", () => {
    const nested = (depth: number) => answer("[".repeat(depth) + "]".repeat(depth));
    expect(parseResponseBody(nested(1_000), 10_000)).toMatchObject({ kind: "json" });
    expect(parseResponseBody(nested(1_001), 10_000)).toEqual({ kind: "oversized" });
    expect(parseResponseBody(nested(100_000), 1_000_000)).toEqual({ kind: "oversized" });
  });
});

describe("the request id in", () => {
  test.each<[string, string, string | undefined]>([
    ["an answer", '{"data":{"request_id":"abc-1"}}', "abc-1"],
    ["one that breaks off", '{"data":{"request_id" : "abc-1", "sta', "abc-1"],
    ["the text of an error page", '<pre>"request_id": "abc-1"</pre>', "abc-1"],
    ["one that breaks off in the id", '{"request_id":"abc', undefined],
    ["an id that is not well-formed", '{"request_id":"a/../b"}', undefined],
    ["an id with an escape", '{"request_id":"a\\u0041"}', undefined],
    ["an id that is too long", `{"request_id":"${"a".repeat(513)}"}`, undefined],
    ["an empty id", '{"request_id":""}', undefined],
    ["an answer without one", '{"id":"abc-1"}', undefined],
  ])("%s", (_, text, id) => {
    expect(salvage(answer(text))).toBe(id);
  });

  test("a compressed answer that breaks off", () => {
    const whole = gzipSync(`{"request_id":"abc-1","filler":"${"x".repeat(500)}"}`);
    expect(salvage(answer(whole.subarray(0, whole.length - 12), "gzip"))).toBe("abc-1");
    expect(salvage(answer("junk", "gzip"))).toBeUndefined();
  });

  test("one that is too large after decompression", () => {
    const bomb = gzipSync(`{"request_id":"abc-1","filler":"${"x".repeat(1 << 20)}"}`);
    expect(salvage(answer(bomb, "gzip"))).toBeUndefined();
  });
});
