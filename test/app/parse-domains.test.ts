import { expect, test } from "vitest";
import { parseDomains } from "../../src/app/parse-domains.js";

test("a list of domains is read name by name, and none is an empty one", () => {
  expect(parseDomains("--domains", undefined)).toEqual([]);
  expect(parseDomains("--domains", "a.example, *.B.example,.c")).toEqual(["a.example", "b.example", "c"]);
  for (const list of ["", "a.example,", "a.example/x", "a b", "!a", "a!"])
    expect(() => parseDomains("--domains", list), list).toThrow(
      /^invalid --domains: ".*" is not the name of a domain$/,
    );
});
