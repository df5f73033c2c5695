import { describe, expect, test } from "vitest";
import { chooseProxy, ProxyError } from "../../../src/core/http/base-url-and-proxy.js";

describe("the proxy", () => {
  const proxy = "http://proxy.example:3128";
  const of = (url: string, env: Record<string, string>) => chooseProxy(new URL(url), env)?.url.origin;

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
    ["https://b.a.example", "a.example", true],
    ["https://a.example", "b.a.example", false],
    ["https://a.example", "example other", true],
    ["http://a.example", "a.example:80", true],
    ["http://a.example", "a.example:443", false],
    ["https://a.example:8443", "a.example:8443", true],
    ["https://[2001:db8::1]", "2001:db8::1", true],
    ["https://[2001:db8::1]", "[2001:db8::1]", true],
    ["https://[2001:db8::1]", "[2001:DB8::1]:443", true],
    ["https://[2001:db8::1]", "[2001:db8::1]:8443", false],
    ["https://[2001:db8::1]", "[2001:db8::2]", false],
    ["https://a.example", ":443", false],
  ])("for %s with no_proxy=%s is left out: %j", (url, no_proxy, exempt) => {
    const env = { https_proxy: proxy, http_proxy: proxy, NO_PROXY: "other", no_proxy };
    expect(of(url, env)).toBe(exempt ? undefined : proxy);
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

describe("the login of a proxy", () => {
  const login = (address: string) => {
    const { authorization } = chooseProxy(new URL("https://a.example"), { HTTPS_PROXY: address }) ?? {};
    return authorization && Buffer.from(authorization.replace(/^Basic /, ""), "base64").toString();
  };

  test.each([
    ["http://u:p@proxy", "u:p"],
    ["http://u@proxy", "u:"],
    ["http://:p@proxy", ":p"],
    ["http://a%40b:p%25w@proxy", "a@b:p%w"],
    ["http://proxy", undefined],
  ])("of %s is %j", (address, expected) => {
    expect(login(address)).toBe(expected);
  });

  test("stands in no URL that is connected to", () => {
    const proxy = chooseProxy(new URL("https://a.example"), { HTTPS_PROXY: "https://u:secret@proxy:8" });
    expect(proxy?.url.href).toBe("https://proxy:8/");
  });
});

describe("a setting that is no proxy's address is bad input:", () => {
  test.each([
    ["ftp://x", /HTTPS_PROXY is invalid: ftp:\/\/ is not supported/],
    ["socks5://x:1080", /socks5:\/\/ is not supported/],
    ["file:///x", /file:\/\/ is not supported/],
    ["http://u:p%w@host", /its login has a %/],
    ["http://host:1/p", /a path, a query or a fragment/],
    ["http://host:1/?q", /a path, a query or a fragment/],
    ["http://host:1/p?q", /a path, a query or a fragment/],
    ["http://host:1#f", /a path, a query or a fragment/],
    ["http://user:hunter2@[", /is not a URL/],
    ["http://", /is not a URL/],
  ])("%s", (HTTPS_PROXY, message) => {
    const read = () => chooseProxy(new URL("https://a.example"), { HTTPS_PROXY });
    expect(read).toThrow(ProxyError);
    expect(read).toThrow(message);
    expect(read).toThrow(expect.objectContaining({ hint: expect.stringContaining("HTTPS_PROXY") }));
    expect(read).not.toThrow(/hunter2|p%w/);
  });

  test("named as it is spelled in the environment", () => {
    expect(() => chooseProxy(new URL("http://a.example"), { http_proxy: "ftp://x" })).toThrow(
      /in http_proxy/,
    );
  });

  test("but not where it is not used", () => {
    expect(chooseProxy(new URL("https://a.example"), { HTTP_PROXY: "ftp://x" })).toBeUndefined();
    expect(
      chooseProxy(new URL("https://a.example"), { HTTPS_PROXY: "ftp://x", NO_PROXY: "*" }),
    ).toBeUndefined();
    expect(chooseProxy(new URL("https://localhost"), { HTTPS_PROXY: "ftp://x" })).toBeUndefined();
  });
});
