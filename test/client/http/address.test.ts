import { describe, expect, test } from "vitest";
import { BaseUrlError, isLoopback, parseBaseUrl, proxyFor } from "../../../src/client/http/address.js";

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
  for (const name of ["128.0.0.1", "localhost.example", "127.example", "0.0.0.0"])
    expect(isLoopback(name)).toBe(false);
});

describe("the proxy", () => {
  const proxy = "http://proxy.example:3128";
  const of = (url: string, env: Record<string, string>) => proxyFor(new URL(url), env);

  test("is the one for the scheme, in either case, the lower one first", () => {
    expect(of("https://a.example", { HTTPS_PROXY: proxy })).toBe(proxy);
    expect(of("https://a.example", { https_proxy: proxy, HTTPS_PROXY: "http://other" })).toBe(proxy);
    expect(of("https://a.example", { HTTP_PROXY: proxy })).toBeUndefined();
    expect(of("http://a.example", { http_proxy: "proxy.example:3128" })).toBe(proxy);
  });

  test("is never used for loopback", () => {
    expect(of("http://localhost:1", { HTTP_PROXY: proxy })).toBeUndefined();
    expect(of("https://[::1]", { HTTPS_PROXY: proxy })).toBeUndefined();
  });

  test.each([
    ["*", true],
    ["a.example", true],
    [".example", true],
    ["*.example", true],
    ["other, a.example", true],
    ["A.EXAMPLE:443", true],
    ["a.example:8443", false],
    ["b.example", false],
    ["xample", false],
    ["", false],
  ])("NO_PROXY=%j exempts a.example: %j", (NO_PROXY, exempt) => {
    expect(of("https://a.example", { HTTPS_PROXY: proxy, NO_PROXY })).toBe(exempt ? undefined : proxy);
  });
});
