import type { IncomingMessage } from "node:http";
import { expect, test } from "vitest";
import { systemClock } from "../../../src/core/clock.js";
import { createAuthenticator, readBearerToken } from "../../../src/server/http/authentication.js";
import { noKeys } from "../../../src/server/keys/key-file.js";
import { createServiceKey, hashKey } from "../../../src/server/keys/key-store.js";

const request = (authorization?: string) => ({ headers: { authorization } }) as IncomingMessage;

test.each([
  ["Bearer k", "k"],
  ["bearer   k ", "k"],
  ["Bearer ", undefined],
  ["Bearerk", undefined],
  ["Bearer a b", undefined],
  ["Basic k", undefined],
  ["x Bearer k", undefined],
  [undefined, undefined],
])("the token of %j is %j", (authorization, token) => {
  expect(readBearerToken(request(authorization))).toBe(token);
});

const limits = { create: 1, stop: 2 };
const single = { id: "own", hash: hashKey("single"), tier: "free", limits } as const;
const { apiKey, key } = createServiceKey({ name: "alice", tier: "free", limits, now: 1_000, validMs: 500 });
const added = { ...noKeys, isInUse: async () => true, find: async (hash: string) => byHash.get(hash) };
const byHash = new Map([[key.hash, key]]);
const singleKey = { caller: { keyId: "own", limits, ownOnly: false } };
const alices = { caller: { keyId: key.id, limits, ownOnly: true }, keyName: "alice" };
const at = (now: number) => ({ ...systemClock, now: () => now });

test.each([
  ["the one key", noKeys, single, "single", 0, singleKey],
  ["another than the one key", noKeys, single, "other", 0, undefined],
  ["any where there is none", noKeys, undefined, "single", 0, undefined],
  ["none", noKeys, single, undefined, 0, undefined],
  ["an added key", added, single, apiKey, 1_499, alices],
  ["an added key that has expired", added, single, apiKey, 1_500, undefined],
  ["another than the added keys", added, single, "other", 0, undefined],
  ["the one key after keys were added", added, single, "single", 0, undefined],
] as const)("who sends %s", async (_, keys, one, sent, now, identity) => {
  const asked = createAuthenticator(keys, one, at(now))(request(sent && `Bearer ${sent}`));
  if (identity) return expect(await asked).toEqual(identity);
  await expect(asked).rejects.toMatchObject({
    code: "INVALID_API_KEY",
    message: "The API key is missing, invalid or expired.",
    headers: { "WWW-Authenticate": "Bearer" },
  });
});
