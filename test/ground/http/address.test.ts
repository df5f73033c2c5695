import { describe, expect, test } from "vitest";
import { BaseUrlError, isLocalName, isLoopback, parseBaseUrl } from "../../../src/ground/http/address.js";

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

  test.each([
    "",
    "a.example",
    "ftp://a.example",
    "https:a.example",
    "https://u@a.example",
    "https://u:secret@a.example",
    "https://a.example/?x",
    "https://a.example/#x",
    "http://a.example",
    "http://localhost.a.example",
    "http://127.0.0.1.a.example",
  ])("%j is none, and no secret in it is quoted", (text) => {
    const parse = () => parseBaseUrl(text, false);
    expect(parse).toThrow(BaseUrlError);
    expect(parse).not.toThrow(/secret/);
  });

  test("plain http to another machine is one when it is allowed", () => {
    expect(parseBaseUrl("http://a.example", true).origin).toBe("http://a.example");
  });
});

test("loopback is this machine and nothing that looks like it", () => {
  for (const name of ["127.0.0.1", "127.1.2.3", "[::1]", "localhost", "a.localhost"])
    expect(isLoopback(name)).toBe(true);
  for (const name of ["128.0.0.1", "localhost.example", "127.example", "0.0.0.0", "mylocalhost"])
    expect(isLoopback(name)).toBe(false);
});

test("a local name is localhost or a name below it, and no address", () => {
  for (const name of ["localhost", "LOCALHOST", "a.localhost", "a.b.localhost"])
    expect(isLocalName(name)).toBe(true);
  for (const name of ["127.0.0.1", "[::1]", "localhost.example", "mylocalhost"])
    expect(isLocalName(name)).toBe(false);
});
