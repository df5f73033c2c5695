import { hash, randomBytes, timingSafeEqual } from "node:crypto";
import type { HourlyLimit, Tier } from "../../core/protocol/limits.js";

/** At most this many in each `ms`; the window rolls. */
export interface Rate {
  most: number;
  ms: number;
}

/** The budgets of a key; an undefined one means no limit. */
export interface KeyBudgets {
  /** A limit on creates. */
  budget?: Rate | undefined;
  dollars?: Rate | undefined;
  /** How many of its conversations may run at a time; the others wait. */
  atOnce?: number | undefined;
}

/** An added key, without the key itself. Times are epoch ms. */
export interface ServiceKey {
  /** The owner of conversations and counts. Each key has a new id, even if its name was used before. */
  id: string;
  /** `[A-Za-z0-9._-]{1,64}`; unique among keys that are not revoked. */
  name: string;
  /** SHA-256 of the key, in hex. */
  hash: string;
  tier: Tier;
  /** §8, requests per hour: those of the tier, or custom ones for enterprise. */
  limits: HourlyLimit;
  budgets?: KeyBudgets | undefined;
  createdAt: number;
  expiresAt?: number | undefined;
  revokedAt?: number | undefined;
}

/** The keys that were added to a store. Every process sees a change by any process within a second. */
export interface KeyStore {
  /** Lists all keys, revoked ones too, oldest first; may be up to a second old. */
  list(): Promise<ServiceKey[]>;
  /** Returns false and adds nothing if a key that is not revoked has the name. */
  add(key: ServiceKey): Promise<boolean>;
  /** Changes the budgets in `budgets`; undefined removes one. Returns false as `revoke` does. */
  set(name: string, budgets: KeyBudgets): Promise<boolean>;
  /** Returns false if no key that is not revoked has the name. */
  revoke(name: string, at: number): Promise<boolean>;
  /** Returns the key with that hash, valid or not; may be up to a second old. */
  find(hash: string): Promise<ServiceKey | undefined>;
  /** Whether a key was ever added, which makes only added keys valid. May be up to a second old. */
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

/** Generates a random key: 192 bits in letters that need no quotes in a shell. */
export function generateKey(): string {
  return `research-${randomBytes(24).toString("base64url")}`;
}

/** Generates a key and its stored form. `validMs`: how long it is valid from `now` (epoch ms); undefined for ever. */
export function createKey(options: {
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

/** Whether a key may be used at `now` (epoch ms). */
export function isValid(key: ServiceKey, now: number): boolean {
  return key.revokedAt === undefined && (key.expiresAt === undefined || now < key.expiresAt);
}

/** Whether `sent` is the secret. Takes the same time for every `sent`. */
export function isSameSecret(sent: string | undefined, secret: string): boolean {
  return sent !== undefined && timingSafeEqual(Buffer.from(hashKey(sent)), Buffer.from(hashKey(secret)));
}
