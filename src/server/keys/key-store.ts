import { hash, randomBytes, timingSafeEqual } from "node:crypto";
import type { HourlyLimit, Tier } from "../../core/protocol/limits.js";

/** So many in each `ms`; the window rolls. */
export interface Rate {
  most: number;
  ms: number;
}

/** What a key may use up; without a number, as much as it wants. */
export interface KeyBudgets {
  /** Creates. */
  budget?: Rate | undefined;
  dollars?: Rate | undefined;
  /** How many of its conversations may run at a time; the others wait. */
  atOnce?: number | undefined;
}

/** An added key, without the key itself. Times are epoch ms. */
export interface ServiceKey {
  /** What conversations and counts belong to: another one for each key, also under a name used before. */
  id: string;
  /** `[A-Za-z0-9._-]{1,64}`; one valid or expired key has it at a time. */
  name: string;
  /** SHA-256 of the key, in hex. */
  hash: string;
  tier: Tier;
  /** §8, requests per hour; those of the tier, or custom ones for enterprise. */
  limits: HourlyLimit;
  budgets?: KeyBudgets | undefined;
  createdAt: number;
  expiresAt?: number | undefined;
  revokedAt?: number | undefined;
}

/** The keys that were added to a store. Changes made by any process are seen by all within a second. */
export interface KeyStore {
  /** All of them, revoked ones too, oldest first; may be up to a second old. */
  list(): Promise<ServiceKey[]>;
  /** False, nothing added, if a key that is not revoked has the name. */
  add(key: ServiceKey): Promise<boolean>;
  /** Changes the budgets that are named; one that is undefined is taken away. False as `revoke`. */
  set(name: string, budgets: KeyBudgets): Promise<boolean>;
  /** False if no key that is not revoked has the name. */
  revoke(name: string, at: number): Promise<boolean>;
  /** The key of that hash, valid or not; an answer may be up to a second old. */
  find(hash: string): Promise<ServiceKey | undefined>;
  /** Whether a key was ever added: from then on only added keys are valid. May be up to a second old. */
  isInUse(): Promise<boolean>;
  close(): Promise<void>;
}

/** SHA-256 of a key, in hex. */
export function hashKey(apiKey: string): string {
  return hash("sha256", apiKey);
}

/** The id of a key: the first 16 digits of its hash, which do not give it away. */
export function shortenHash(hash: string): string {
  return hash.slice(0, 16);
}

/** A random key: 192 bits in letters that need no quotes in a shell. */
export function generateKey(): string {
  return `research-${randomBytes(24).toString("base64url")}`;
}

/** A random key and what is stored of it. `validMs`: how long it is valid from `now` (epoch ms), undefined without end. */
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

/** Whether `sent` is the secret. The comparison takes the same time whatever is sent. */
export function isSameSecret(sent: string | undefined, secret: string): boolean {
  return sent !== undefined && timingSafeEqual(Buffer.from(hashKey(sent)), Buffer.from(hashKey(secret)));
}
