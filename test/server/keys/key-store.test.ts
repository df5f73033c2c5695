import { expect, test } from "vitest";
import { sameSecret } from "../../../src/server/keys/key-store.js";

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
