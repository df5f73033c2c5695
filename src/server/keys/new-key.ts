import { randomBytes } from "node:crypto";
import type { HourlyLimit, Tier } from "../../protocol/limits.js";
import { keyHash, keyIdOf, type ServiceKey } from "./key-store.js";

/** A random key: 192 bits in letters that need no quotes in a shell. */
export function randomKey(): string {
  return `research-${randomBytes(24).toString("base64url")}`;
}

/** A random key and what is stored of it. `validMs`: how long it is valid from `now` (epoch ms), undefined without end. */
export function newKey(options: {
  name: string;
  tier: Tier;
  limits: HourlyLimit;
  now: number;
  validMs: number | undefined;
}): { apiKey: string; key: ServiceKey } {
  const { name, tier, limits, now, validMs } = options;
  const apiKey = randomKey();
  const hash = keyHash(apiKey);
  const expires = validMs === undefined ? {} : { expiresAt: now + validMs };
  return { apiKey, key: { id: keyIdOf(hash), name, hash, tier, limits, createdAt: now, ...expires } };
}
