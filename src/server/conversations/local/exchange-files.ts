import { promises as fs } from "node:fs";
import { join } from "node:path";
import { KeyedMutex } from "../../keyed-mutex.js";
import { type ExchangeStore, noExchanges } from "../exchange-store.js";

/** The exchanges of a store that deletes them itself. */
export interface LocalExchanges extends ExchangeStore {
  /** Never rejects: what cannot be deleted now is deleted at the next start. */
  delete(requestId: string): Promise<void>;
}

/** Of a service that lives in memory only. */
export const memoryExchanges: LocalExchanges = { ...noExchanges, delete: async () => {} };

const ENDING = ".ndjson";

/** A file of JSON Lines (mode 0600) for each conversation. Their ids are well-formed: the service made them. */
export class ExchangeFiles implements LocalExchanges {
  /** A deletion comes after what was added before it, so that no file is made anew behind it. */
  readonly #changes = new KeyedMutex();
  constructor(private readonly folder: string) {}

  async read(requestId: string): Promise<unknown[]> {
    const text = await fs.readFile(this.#path(requestId), "utf8").catch(emptyIfMissing);
    return text.split("\n").flatMap(parsed);
  }

  append(requestId: string, record: object): Promise<void> {
    return this.#changes.run(requestId, async () => {
      await fs.mkdir(this.folder, { recursive: true, mode: 0o700 });
      // A line break before it too, so that it does not continue a line that a crash cut off.
      await fs.appendFile(this.#path(requestId), `\n${JSON.stringify(record)}\n`, { mode: 0o600 });
    });
  }

  delete(requestId: string): Promise<void> {
    return this.#changes.run(requestId, () => fs.rm(this.#path(requestId), { force: true }).catch(() => {}));
  }

  /** Deletes what a crash before a deletion has left. */
  async deleteUnwanted(wanted: (requestId: string) => boolean, signal: AbortSignal): Promise<void> {
    for (const name of await fs.readdir(this.folder).catch(() => [])) {
      if (signal.aborted) return;
      const requestId = name.slice(0, -ENDING.length);
      if (name.endsWith(ENDING) && !wanted(requestId)) await this.delete(requestId);
    }
  }

  #path(requestId: string): string {
    return join(this.folder, `${requestId}${ENDING}`);
  }
}

function emptyIfMissing(error: NodeJS.ErrnoException): string {
  if (error.code === "ENOENT") return "";
  throw error;
}

/** A line that a crash cut off is skipped. */
function parsed(line: string): unknown[] {
  try {
    return [JSON.parse(line)];
  } catch {
    return [];
  }
}
