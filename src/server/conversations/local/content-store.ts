import { hash } from "node:crypto";
import { promises as fs } from "node:fs";
import { dirname, join } from "node:path";
import { ignoreExisting, ignoreMissing, syncFolder } from "../../../core/files/async-file-access.js";
import { KeyedMutex } from "../../../core/keyed-mutex.js";
import type { ExchangeStore } from "../../../core/researcher.js";

/** The kinds of texts: outputs of COMPLETED conversations, other fields of outcomes, and jobs of ended conversations. */
export const KINDS = ["outputs", "outcome-data", "ended-jobs"] as const;
export type Kind = (typeof KINDS)[number];

/** Stores the texts that the states of conversations do not contain: JSON of each kind, and exchanges. */
export interface ContentStore {
  /** Writes a text. Resolves when an output is safe from a power failure, or a text of another kind from a `kill -9`. */
  write(kind: Kind, requestId: string, text: string): Promise<void>;
  /** Reads a text. Rejects if the text does not exist. */
  read(kind: Kind, requestId: string): Promise<string>;
  /** Deletes a text. Resolves even if the text does not exist. */
  delete(kind: Kind, requestId: string): Promise<void>;
  readonly exchanges: ExchangeStore;
  /** Deletes the exchanges of a conversation. Never rejects, because the next start deletes the exchanges that cannot be deleted now. */
  deleteExchanges(requestId: string): Promise<void>;
}

/** Keeps texts in memory only. Keeps no exchanges, because the conversations end with the process. */
export class MemoryContentStore implements ContentStore {
  readonly exchanges: ExchangeStore = { read: async () => [], append: async () => {} };
  readonly #texts = new Map<string, string>();

  async write(kind: Kind, requestId: string, text: string): Promise<void> {
    this.#texts.set(`${kind}/${requestId}`, text);
  }

  async read(kind: Kind, requestId: string): Promise<string> {
    const text = this.#texts.get(`${kind}/${requestId}`);
    if (text === undefined) throw new Error(`there is no ${kind}/${requestId}`);
    return text;
  }

  async delete(kind: Kind, requestId: string): Promise<void> {
    this.#texts.delete(`${kind}/${requestId}`);
  }

  async deleteExchanges(): Promise<void> {}
}

const EXCHANGES = "exchanges";
const ENDING = ".ndjson";

/** Keeps texts in files (mode 0600), in 256 folders for each kind, and exchanges as JSON Lines. Requires well-formed ids. */
export class FolderContentStore implements ContentStore {
  readonly exchanges: ExchangeStore = {
    read: async (requestId) => {
      const text = await fs.readFile(this.#buildExchangesPath(requestId), "utf8").catch(ignoreMissing);
      return (text ?? "").split("\n").flatMap(parseJsonLine);
    },
    append: (requestId, record) =>
      this.#changes.run(requestId, async () => {
        await fs.mkdir(join(this.dataDir, EXCHANGES), { recursive: true, mode: 0o700 });
        // Begin with a line break, so that the line does not continue one that a crash cut off.
        const line = `\n${JSON.stringify(record)}\n`;
        await fs.appendFile(this.#buildExchangesPath(requestId), line, { mode: 0o600 });
      }),
  };
  /** Makes a deletion wait for pending appends, so that none of them creates the file again. */
  readonly #changes = new KeyedMutex();
  readonly #folders = new Set<string>();
  constructor(private readonly dataDir: string) {}

  async write(kind: Kind, requestId: string, text: string): Promise<void> {
    const path = this.#buildPath(kind, requestId);
    const shard = dirname(path);
    const isSynced = kind === "outputs";
    if (!this.#folders.has(shard)) {
      for (const folder of [dirname(shard), shard])
        await fs.mkdir(folder, { mode: 0o700 }).catch(ignoreExisting);
      if (isSynced) await syncFolder(dirname(shard));
      if (isSynced) await syncFolder(this.dataDir);
      this.#folders.add(shard);
    }
    await fs.writeFile(path, text, { mode: 0o600, flush: isSynced });
    if (isSynced) await syncFolder(shard);
  }

  read(kind: Kind, requestId: string): Promise<string> {
    return fs.readFile(this.#buildPath(kind, requestId), "utf8");
  }

  delete(kind: Kind, requestId: string): Promise<void> {
    return fs.rm(this.#buildPath(kind, requestId), { force: true });
  }

  deleteExchanges(requestId: string): Promise<void> {
    const path = this.#buildExchangesPath(requestId);
    return this.#changes.run(requestId, () => fs.rm(path, { force: true }).catch(() => {}));
  }

  /** Deletes files that a crash left: files of a deleted conversation, and files whose line in the journal was not written. */
  async deleteUnwanted(
    isWanted: (kind: Kind | "exchanges", requestId: string) => boolean,
    signal: AbortSignal,
  ): Promise<void> {
    for (const kind of KINDS)
      for (const shard of await listFileNames(join(this.dataDir, kind)))
        for (const requestId of await listFileNames(join(this.dataDir, kind, shard))) {
          if (signal.aborted) return;
          const path = join(this.dataDir, kind, shard, requestId);
          if (!isWanted(kind, requestId)) await fs.rm(path, { force: true });
        }
    for (const name of await listFileNames(join(this.dataDir, EXCHANGES))) {
      if (signal.aborted) return;
      const requestId = name.slice(0, -ENDING.length);
      if (name.endsWith(ENDING) && !isWanted(EXCHANGES, requestId)) await this.deleteExchanges(requestId);
    }
  }

  #buildPath(kind: Kind, requestId: string): string {
    const shard = hash("sha256", requestId).slice(0, 2);
    return join(this.dataDir, kind, shard, requestId);
  }

  #buildExchangesPath(requestId: string): string {
    return join(this.dataDir, EXCHANGES, `${requestId}${ENDING}`);
  }
}

function listFileNames(folder: string): Promise<string[]> {
  return fs.readdir(folder).catch(() => []);
}

/** Parses a line; returns nothing for a line that a crash cut off. */
function parseJsonLine(line: string): unknown[] {
  try {
    return [JSON.parse(line)];
  } catch {
    return [];
  }
}
