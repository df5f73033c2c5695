import { expect, test } from "vitest";
import { connectOptions } from "../../../src/ground/http/connect.js";

test.each([
  ["https://a.example", "a.example", 443],
  ["http://a.example", "a.example", 80],
  ["http://a.example:8", "a.example", 8],
  ["https://[::1]:8", "::1", 8],
])("%s is at the host %s and the port %d", (url, host, port) => {
  expect(connectOptions(new URL(url))).toEqual({ host, port });
});

test("a local name is looked up nowhere, whether one address is asked for or all", () => {
  const { lookup } = connectOptions(new URL("http://a.localhost"));
  const found: unknown[][] = [];
  for (const all of [true, false]) lookup?.("a.localhost", { all }, (...said) => found.push(said));
  const [v4, v6] = [{ address: "127.0.0.1", family: 4 } as const, { address: "::1", family: 6 } as const];
  expect(found).toEqual([
    [null, [v4, v6]],
    [null, v4.address, v4.family],
  ]);
});
