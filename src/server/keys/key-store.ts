import { hash, randomBytes, timingSafeEqual } from "node:crypto";
import type { HourlyLimit, Tier } from "../../core/protocol/rate-limits.js";

/** A limit of `most` in any period of `ms` milliseconds. */
export interface Rate {
  most: number;
  ms: number;
}

/** The budgets of a key; an undefined budget is no limit. */
export interface KeyBudgets {
  /** Maximum number of created conversations in a period. */
  budget?: Rate | undefined;
  dollars?: Rate | undefined;
  /** Maximum number of the key's conversations that run at a time; further ones wait. */
  atOnce?: number | undefined;
}

/** An added key, without its secret. Times are epoch ms. */
export interface ServiceKey {
  /** The id that owns conversations and counts. Each key has a new one, even if the key's name was used before. */
  id: string;
  /** `[A-Za-z0-9._-]{1,64}`; unique among keys that are not revoked. */
  name: string;
  /** SHA-256 of the key, in hex. */
  hash: string;
  tier: Tier;
  /** Requests per hour (§8): the limits of the tier, or custom ones for enterprise. */
  limits: HourlyLimit;
  budgets?: KeyBudgets | undefined;
  createdAt: number;
  expiresAt?: number | undefined;
  revokedAt?: number | undefined;
}

/** The keys that were added to a store. Every process sees a change within a second, whichever process made it. */
export interface KeyStore {
  /** Lists all keys, oldest first, including revoked ones. The list may be up to a second old. */
  list(): Promise<ServiceKey[]>;
  /** Adds a key. Returns false and adds nothing if a key with that name exists that is not revoked. */
  add(key: ServiceKey): Promise<boolean>;
  /** Changes those budgets of a key that `budgets` contains; undefined removes a budget. Returns false if there is no such key. */
  set(name: string, budgets: KeyBudgets): Promise<boolean>;
  /** Revokes a key at `at` (epoch ms). Returns false if every key with that name is revoked or none exists. */
  revoke(name: string, at: number): Promise<boolean>;
  /** Returns the key with that hash, whether it is valid or not. The answer may be up to a second old. */
  find(hash: string): Promise<ServiceKey | undefined>;
  /** Returns whether a key was ever added; then only added keys are valid. The answer may be up to a second old. */
  isInUse(): Promise<boolean>;
  close(): Promise<void>;
}

/** Returns the SHA-256 of a key, in hex. */
export function hashKey(apiKey: string): string {
  return hash("sha256", apiKey);
}

/** Returns the id of a key: the first 16 digits of its hash, which do not reveal the key. */
export function shortenHash(hash: string): string {
  return hash.slice(0, 16);
}

/** Generates a random key of 192 bits, in characters that need no quotes in a shell. */
export function generateKey(): string {
  return `research-${randomBytes(24).toString("base64url")}`;
}

/** Generates a key and the form in which it is stored. `validMs`: how long it is valid from `now` (epoch ms); undefined: for ever. */
export function createServiceKey(options: {
  name: string;
  tier: Tier;
  limits: HourlyLimit;
  budgets?: KeyBudgets;
  now: number;
  validMs: number | undefined;
}): { apiKey: string; key: ServiceKey } {
  const { name, tier, limits, budgets, now, validMs } = options;
  const apiKey = generateKey();
  const hash = hashKey(apiKey);
  const expiresAt = validMs === undefined ? undefined : now + validMs;
  return {
    apiKey,
    key: { id: shortenHash(hash), name, hash, tier, limits, budgets, createdAt: now, expiresAt },
  };
}

/** Returns whether a key may be used at `now` (epoch ms). */
export function isKeyValid(key: ServiceKey, now: number): boolean {
  return key.revokedAt === undefined && (key.expiresAt === undefined || now < key.expiresAt);
}

/** Returns whether `sent` is the secret, in a time that does not depend on `sent`. */
export function isSameSecret(sent: string | undefined, secret: string): boolean {
  return sent !== undefined && timingSafeEqual(Buffer.from(hashKey(sent)), Buffer.from(hashKey(secret)));
}
