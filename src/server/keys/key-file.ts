import { promises as fs } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import type { Clock } from "../../core/clock.js";
import { ignoreMissing } from "../../core/files/async-file-access.js";
import { readIfExists, replaceFile } from "../../core/files/file-access.js";
import { acquireLock } from "../../core/files/file-lock.js";
import { describeError } from "../../core/text/format-text.js";
import { StoreUnavailableError } from "../conversations/conversation-store.js";
import type { KeyBudgets, KeyStore, ServiceKey } from "./key-store.js";

/** The name of the file with the keys, in the data folder. */
const FILE = "keys.json";
/** How long keys are cached, in ms, so that a change takes effect within a second. */
const FRESH_MS = 250;
/** Maximum size of the file, in bytes: room for a hundred thousand keys. */
const MAX_BYTES = 32 * 1_048_576;
/** How long to wait for another process that changes the keys, ms. */
const LOCK_MS = 5_000;

const limit = v.pipe(v.number(), v.integer(), v.minValue(0));
const rate = v.object({ most: v.number(), ms: v.number() });
const key = v.object({
  id: v.string(),
  name: v.string(),
  hash: v.string(),
  tier: v.picklist(["free", "pro", "enterprise"]),
  limits: v.object({ create: limit, stop: limit }),
  budgets: v.optional(
    v.object({ budget: v.optional(rate), dollars: v.optional(rate), atOnce: v.optional(v.number()) }),
  ),
  createdAt: v.number(),
  expiresAt: v.optional(v.number()),
  revokedAt: v.optional(v.number()),
});
const keyFile = v.pipe(v.string(), v.parseJson(), v.object({ keys: v.array(key) }));

/** The key store of a service without a data folder: empty and unchangeable. */
export const noKeys: KeyStore = {
  list: async () => [],
  add: async () => false,
  set: async () => false,
  revoke: async () => false,
  find: async () => undefined,
  isInUse: async () => false,
  close: async () => {},
};

/** The key store of a data folder: a file that any process may change while a service uses it. */
export class KeyFile implements KeyStore {
  readonly #path: string;
  #keys = new Map<string, ServiceKey>();
  #exists = false;
  #version = "";
  #lookedAt = Number.NEGATIVE_INFINITY;
  #looking = Promise.resolve();
  constructor(
    dataDir: string,
    private readonly clock: Clock,
  ) {
    this.#path = join(dataDir, FILE);
  }

  async list(): Promise<ServiceKey[]> {
    await this.#look();
    return [...this.#keys.values()];
  }

  add(key: ServiceKey): Promise<boolean> {
    return this.#change((keys) => (findUnrevokedKey(keys, key.name) ? undefined : [...keys, key]));
  }

  set(name: string, budgets: KeyBudgets): Promise<boolean> {
    return this.#replace(name, (key) => ({ ...key, budgets: { ...key.budgets, ...budgets } }));
  }

  revoke(name: string, at: number): Promise<boolean> {
    return this.#replace(name, (key) => ({ ...key, revokedAt: at }));
  }

  async find(hash: string): Promise<ServiceKey | undefined> {
    await this.#look();
    return this.#keys.get(hash);
  }

  async isInUse(): Promise<boolean> {
    await this.#look();
    return this.#exists;
  }

  async close(): Promise<void> {}

  #throwUnusable(cause: unknown): never {
    // Make the next request read the file again.
    this.#lookedAt = Number.NEGATIVE_INFINITY;
    throw new StoreUnavailableError(`The keys cannot be used: ${describeError(cause)}`, { cause });
  }

  /** Checks whether the file has changed, unless a check in the last FRESH_MS did; concurrent callers share one check. */
  #look(): Promise<void> {
    const now = this.clock.monotonic();
    if (now - this.#lookedAt >= FRESH_MS) {
      this.#lookedAt = now;
      this.#looking = this.#readIfChanged().catch((cause) => this.#throwUnusable(cause));
    }
    return this.#looking;
  }

  async #readIfChanged(): Promise<void> {
    const stat = await fs.stat(this.#path, { bigint: true }).catch(ignoreMissing);
    const version = stat === undefined ? "" : `${stat.ino} ${stat.mtimeNs} ${stat.size}`;
    if (version === this.#version) return;
    const keys = readKeys(this.#path);
    this.#keys = new Map(keys.map((key) => [key.hash, key]));
    // Keep the known keys if the file vanishes, so that the service does not accept the single key again.
    this.#exists ||= keys.length > 0;
    this.#version = version;
  }

  #replace(name: string, changed: (key: ServiceKey) => ServiceKey): Promise<boolean> {
    return this.#change((keys) => {
      const key = findUnrevokedKey(keys, name);
      return key && keys.map((other) => (other === key ? changed(key) : other));
    });
  }

  async #change(change: (keys: ServiceKey[]) => ServiceKey[] | undefined): Promise<boolean> {
    const unlock = await acquireLock(`${this.#path}.lock`, LOCK_MS).catch((cause) =>
      this.#throwUnusable(cause),
    );
    try {
      const keys = change(readKeys(this.#path));
      if (keys === undefined) return false;
      replaceFile(this.#path, `${JSON.stringify({ keys }, null, 2)}\n`);
      this.#lookedAt = Number.NEGATIVE_INFINITY;
      return true;
    } catch (cause) {
      return this.#throwUnusable(cause);
    } finally {
      unlock();
    }
  }
}

/** Finds the key with that name that is not revoked. */
function findUnrevokedKey(keys: readonly ServiceKey[], name: string): ServiceKey | undefined {
  return keys.find((key) => key.name === name && key.revokedAt === undefined);
}

function readKeys(path: string): ServiceKey[] {
  const text = readIfExists(path, MAX_BYTES);
  if (text === undefined) return [];
  const parsed = v.safeParse(keyFile, text);
  if (!parsed.success) throw new Error(`${path} is not a file of keys`);
  return parsed.output.keys;
}
