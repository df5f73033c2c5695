import { expect, test } from "vitest";
import { domainsIn } from "../../src/app/domains.js";

test("a list of domains is read name by name, and none is an empty one", () => {
  expect(domainsIn("--domains", undefined)).toEqual([]);
  expect(domainsIn("--domains", "a.example, *.B.example,.c")).toEqual(["a.example", "b.example", "c"]);
  for (const list of ["", "a.example,", "a.example/x", "a b", "!a", "a!"])
    expect(() => domainsIn("--domains", list), list).toThrow(
      /^invalid --domains: ".*" is not the name of a domain$/,
    );
});
