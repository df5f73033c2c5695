import * as fs from "node:fs";
import { join } from "node:path";
import { inWords, LocalError, systemCode } from "../errors.js";
import { makeFolder, namesIn, readIfThere, replaceFile } from "../files.js";

/** A provider may forget a result after ten minutes; it stays here for this long, in milliseconds. */
const KEPT_MS = 30 * 86_400_000;
const MAX_BYTES = 64 << 20;

/** Results as they came, a private file each, named by a digest of origin and request id. */
export class KeptResults {
  readonly #folder: string;
  readonly #now: () => number;

  /** Touches nothing yet. `now` gives epoch milliseconds. */
  constructor(folder: string, now: () => number) {
    this.#folder = folder;
    this.#now = now;
  }

  /** Keeps the JSON text of a result, synced, unless it is there. Removes those that are too old. Throws LocalError. */
  keep(origin: string, requestId: string, text: string): void {
    const path = this.#path(origin, requestId);
    try {
      if (this.#isFresh(path)) return;
      if (Buffer.byteLength(text) > MAX_BYTES) throw new Error(`it is larger than ${MAX_BYTES >> 20} MiB`);
      makeFolder(this.#folder);
      this.#removeOld();
      replaceFile(path, text);
      // Its age counts by the clock that will be asked.
      fs.utimesSync(path, this.#now() / 1_000, this.#now() / 1_000);
    } catch (error) {
      throw new LocalError(
        `the result of ${requestId} could not be kept in ${this.#folder}: ${inWords(error)}`,
        {
          cause: error,
        },
      );
    }
  }

  /** The JSON text of a result that is kept; undefined if it is not, or cannot be read. */
  read(origin: string, requestId: string): string | undefined {
    const path = this.#path(origin, requestId);
    try {
      return this.#isFresh(path) ? readIfThere(path, MAX_BYTES) : undefined;
    } catch {
      return undefined;
    }
  }

  /** Removes a result; it may be that none is kept. Throws LocalError. */
  forget(origin: string, requestId: string): void {
    const path = this.#path(origin, requestId);
    try {
      fs.rmSync(path, { force: true });
    } catch (error) {
      throw new LocalError(`the result of ${requestId} could not be removed: ${inWords(error)}`, {
        cause: error,
      });
    }
  }

  #isFresh(path: string): boolean {
    try {
      return Math.abs(this.#now() - fs.statSync(path).mtimeMs) < KEPT_MS;
    } catch (error) {
      if (systemCode(error) === "ENOENT") return false;
      throw error;
    }
  }

  #removeOld(): void {
    for (const name of namesIn(this.#folder)) {
      const path = join(this.#folder, name);
      if (!this.#isFresh(path)) fs.rmSync(path, { force: true });
    }
  }

  #path(origin: string, requestId: string): string {
    const digest = process
      .getBuiltinModule("node:crypto")
      .createHash("sha256")
      .update(`${origin}\n${requestId}`)
      .digest("hex");
    return join(this.#folder, `${digest.slice(0, 40)}.json`);
  }
}
