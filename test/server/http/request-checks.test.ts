import type { IncomingMessage } from "node:http";
import { expect, test } from "vitest";
import {
  checkContentType,
  checkHost,
  checkIsAnswerable,
  checkOrigin,
} from "../../../src/server/http/request-checks.js";

const request = (headers: object) => ({ headers }) as IncomingMessage;
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
