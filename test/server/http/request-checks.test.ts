import type { IncomingMessage } from "node:http";
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import {
  checkContentLength,
  checkContentType,
  checkHost,
  checkIsAnswerable,
  checkOrigin,
  readBody,
} from "../../../src/server/http/request-checks.js";

const request = (headers: object) =>
  ({ headers, rawHeaders: Object.entries(headers).flat() }) as IncomingMessage;
const code = (check: () => void): string | undefined => {
  try {
    check();
    return undefined;
  } catch (error) {
    return (error as { code: string }).code;
  }
};

test.each([
  ["localhost", undefined],
  ["LOCALHOST:8080", undefined],
  ["localhost.", undefined],
  ["a.localhost", undefined],
  ["127.0.0.1:80", undefined],
  ["127.1.2.3", undefined],
  ["[::1]:80", undefined],
  ["known.example:80", undefined],
  ["Known.Example.", undefined],
  ["evil.example", "MISDIRECTED_REQUEST"],
  ["localhost.evil.example", "MISDIRECTED_REQUEST"],
  ["127.0.0.1.evil.example", "MISDIRECTED_REQUEST"],
  ["128.0.0.1", "MISDIRECTED_REQUEST"],
  ["[::2]", "MISDIRECTED_REQUEST"],
  ["notlocalhost", "MISDIRECTED_REQUEST"],
  ["", "BAD_REQUEST"],
  [undefined, "BAD_REQUEST"],
])("the host %j: %s", (host, expected) => {
  expect(code(() => checkHost(request({ host }), new Set(["known.example"])))).toBe(expected);
});

test.each([
  [undefined, undefined],
  ["http://localhost", "ORIGIN_NOT_ALLOWED"],
  ["null", "ORIGIN_NOT_ALLOWED"],
  ["", "ORIGIN_NOT_ALLOWED"],
])("the origin %j: %s", (origin, expected) => {
  expect(code(() => checkOrigin(request({ origin })))).toBe(expected);
});

test.each([
  ["application/json", undefined],
  [" Application/JSON ; charset=utf-8", undefined],
  ["application/jsonp", "UNSUPPORTED_MEDIA_TYPE"],
  ["text/json", "UNSUPPORTED_MEDIA_TYPE"],
  ["x application/json", "UNSUPPORTED_MEDIA_TYPE"],
  [undefined, "UNSUPPORTED_MEDIA_TYPE"],
])("the content type %j: %s", (type, expected) => {
  expect(code(() => checkContentType(request({ "content-type": type })))).toBe(expected);
});

test.each([
  [{ destroyed: false, writableEnded: false }, undefined],
  [{ destroyed: true, writableEnded: false }, "BAD_REQUEST"],
  [{ destroyed: false, writableEnded: true }, "BAD_REQUEST"],
])("a client whose connection is %j: %s", (socket, expected) => {
  expect(code(() => checkIsAnswerable({ socket } as IncomingMessage))).toBe(expected);
});

test.each([
  [undefined, undefined],
  ["1048576", undefined],
  ["1048577", "PAYLOAD_TOO_LARGE"],
])("the content length %s: %s", (length, expected) => {
  expect(code(() => checkContentLength(request({ "content-length": length })))).toBe(expected);
});

test.each([
  [[], undefined, 0],
  [[2, 1], undefined, 3],
  [[1_048_576], undefined, 1_048_576],
  [[1_048_576, 1], undefined, "PAYLOAD_TOO_LARGE"],
  [[1], new Error("broken"), "BAD_REQUEST"],
])("a body of %j bytes that ends with %s: %s", async (sizes, error, expected) => {
  const stream = new PassThrough();
  const body = readBody(stream as unknown as IncomingMessage);
  for (const size of sizes) stream.write(Buffer.alloc(size));
  if (error) stream.destroy(error);
  else stream.end();
  expect(
    await body.then(
      ({ length }) => length,
      (failure) => failure.code,
    ),
  ).toBe(expected);
});

test("a body whose client leaves in the middle cannot be read", async () => {
  const stream = new PassThrough();
  const body = readBody(stream as unknown as IncomingMessage);
  stream.write("{");
  stream.destroy();
  await expect(body).rejects.toMatchObject({ code: "BAD_REQUEST" });
});
