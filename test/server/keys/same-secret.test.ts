import { expect, test } from "vitest";
import { sameSecret } from "../../../src/server/keys/same-secret.js";

test.each([
  ["secret", true],
  ["Secret", false],
  ["secret ", false],
  ["secre", false],
  ["", false],
  [undefined, false],
])("%j is the secret: %s", (sent, expected) => {
  expect(sameSecret(sent, "secret")).toBe(expected);
});
