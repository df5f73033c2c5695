import { expect, it, test } from "vitest";
import { createServiceKey, hashKey, isKeyValid, isSameSecret } from "../../../src/server/keys/key-store.js";

const made = (validMs: number | undefined) =>
  createServiceKey({ name: "a", tier: "free", limits: { create: 1, stop: 2 }, now: 1_000, validMs });

test.each([
  ["secret", true],
  ["Secret", false],
  ["secret ", false],
  ["secre", false],
  ["", false],
  [undefined, false],
])("%j is the secret: %s", (sent, expected) => {
  expect(isSameSecret(sent, "secret")).toBe(expected);
});

it("of a new key its hash is kept, and an id that does not give the hash away", () => {
  const { apiKey, key } = made(undefined);
  expect(key.hash).toBe(hashKey(apiKey));
  expect(key.id).toMatch(/^[0-9a-f]{16}$/);
  expect(key).toMatchObject({ name: "a", tier: "free", limits: { create: 1, stop: 2 }, createdAt: 1_000 });
});

test.each([
  ["without an end", undefined, undefined, 1e15, true],
  ["before its end", 500, undefined, 1_499, true],
  ["at its end", 500, undefined, 1_500, false],
  ["revoked", undefined, 1_200, 1_300, false],
])("a key %s", (_, validMs, revokedAt, now, expected) => {
  expect(isKeyValid({ ...made(validMs).key, revokedAt }, now)).toBe(expected);
});
