import { expect, it } from "vitest";
import { type Role, rolesAsked, saysRole } from "../../../../src/server/researchers/structured/claims.js";

it.each([
  ["What is the default port?", ["default"]],
  ["maximum number of columns", ["maximum"]],
  ["How long can an identifier be?", ["maximum"]],
  ["the smallest size, by default", ["default", "minimum"]],
  ["How many apples are there?", []],
] as [string, Role[]][])("%s", (text, roles) => {
  expect(rolesAsked(text)).toEqual(roles);
});

it.each([
  ["the port it listens on; {5432} by default.", "default", true],
  ["The default is typically {100} connections.", "default", true],
  ["Default: {5000} (5 seconds).", "default", true],
  ["a value greater than {4} (its current default value).", "default", true],
  ["If no argument is given, the process is sent {SIGTERM}.", "default", true],
  ["The default is 100. There are {7} others.", "default", false],
  ["There are {7} of them.", "default", false],
  ["the maximum identifier length is {63} bytes", "maximum", true],
  ["at most {10} files", "maximum", true],
  ["you cure the violation prior to {30} days after the notice", "maximum", true],
  ["The default is {2} bits and the maximum is 4095.", "maximum", false],
  ["The default is 2 bits and the maximum is {4095}.", "maximum", true],
  ["at least {3} of them", "minimum", true],
] as [string, Role, boolean][])("%s: %s %s", (marked, role, expected) => {
  const start = marked.indexOf("{");
  const end = marked.indexOf("}") - 1;
  expect(saysRole(marked.replace(/[{}]/g, ""), start, end, [role])).toBe(expected);
});
