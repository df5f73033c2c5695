import { describe, expect, test } from "vitest";
import {
  BaseUrlError,
  isLoopback,
  isLoopbackName,
  parseBaseUrl,
} from "../../../src/core/http/base-url-and-proxy.js";

describe("a base URL", () => {
  test.each([
    ["https://a.example", "https://a.example/"],
    ["https://a.example/", "https://a.example/"],
    ["https://a.example/x/y//", "https://a.example/x/y"],
    ["http://localhost:1", "http://localhost:1/"],
    ["http://[::1]:80", "http://[::1]/"],
    ["http://127.9.9.9", "http://127.9.9.9/"],
  ])("%s is one", (text, href) => {
    expect(parseBaseUrl(text, false).href).toBe(href);
  });

  const INVALID = /^invalid base URL: ".*"; give one like https:\/\/research.example.com$/;
  const PLAIN = /is plain http to another machine/;
  test.each([
    ["", INVALID],
    ["a.example", INVALID],
    ["ftp://a.example", INVALID],
    ["ftp://u:secret@a.example", /"ftp:\/\/…@a.example"/],
    ["https:a.example", INVALID],
    ["https://u@a.example", /^the base URL for a.example has a user name or password; leave that out$/],
    ["https://:secret@a.example", /has a user name or password/],
    ["https://a.example/?", /has a query/],
    ["https://a.example/#x", /has a fragment/],
    ["http://a.example", PLAIN],
    ["http://localhost.a.example", PLAIN],
    ["http://127.0.0.1.a.example", PLAIN],
  ])("%j is none, and no secret in it is quoted", (text, message) => {
    const parse = () => parseBaseUrl(text, false);
    expect(parse).toThrow(BaseUrlError);
    expect(parse).toThrow(message);
    expect(parse).not.toThrow(/secret/);
  });

  test("plain http to another machine is one when it is allowed", () => {
    expect(parseBaseUrl("http://a.example", true).origin).toBe("http://a.example");
  });
});

test("loopback is this machine and nothing that looks like it", () => {
  for (const name of ["127.0.0.1", "127.1.2.255", "[::1]", "::1", "LocalHost", "a.localhost"])
    expect(isLoopback(name)).toBe(true);
  for (const name of [
    "128.0.0.1",
    "localhost.example",
    "127.example",
    "0.0.0.0",
    "mylocalhost",
    "[::12]",
    "1::1",
  ])
    expect(isLoopback(name)).toBe(false);
});

test("a local name is localhost or a name below it, and no address", () => {
  for (const name of ["localhost", "LOCALHOST", "a.localhost", "a.b.localhost"])
    expect(isLoopbackName(name)).toBe(true);
  for (const name of ["127.0.0.1", "[::1]", "localhost.example", "mylocalhost"])
    expect(isLoopbackName(name)).toBe(false);
});
