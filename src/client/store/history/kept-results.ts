import * as fs from "node:fs";
import { join } from "node:path";
import { listFolder, makePrivateFolder, readIfExists, replaceFile } from "../../../core/files/file-access.js";
import { hashSha256, wrapFileErrors } from "../../../core/files/local-error.js";

/** How long this machine keeps a result, in milliseconds. A copy is needed because a provider may delete its own after ten minutes. */
const KEPT_MS = 30 * 86_400_000;
const MAX_BYTES = 64 << 20;

/** Stores results, or outcomes of checks. Each has a private file, named by a digest of the service and the request id. */
export class KeptResults {
  /** Creates the store without opening a file. `now` returns epoch milliseconds. */
  constructor(
    private readonly folder: string,
    private readonly now: () => number,
    private readonly maxBytes = MAX_BYTES,
  ) {}

  /** Stores a JSON text, synced. Leaves a stored text as it is unless `replaces` is set. Removes expired files. Throws LocalError. */
  keep(service: string, requestId: string, text: string, replaces = false): void {
    const path = this.#buildPath(service, requestId);
    wrapFileErrors(`the result of ${requestId} could not be kept in ${this.folder}`, () => {
      if (!replaces && this.#isFresh(path)) return;
      if (Buffer.byteLength(text) > this.maxBytes)
        throw new Error(`it is larger than ${this.maxBytes >> 20} MiB`);
      makePrivateFolder(this.folder);
      this.#removeOld();
      replaceFile(path, text);
      // Set the file's time by the clock that also computes its age.
      fs.utimesSync(path, this.now() / 1_000, this.now() / 1_000);
    });
  }

  /** Reads a stored JSON text; undefined if it is missing, expired or unreadable. */
  read(service: string, requestId: string): string | undefined {
    const path = this.#buildPath(service, requestId);
    try {
      return this.#isFresh(path) ? readIfExists(path, this.maxBytes) : undefined;
    } catch {
      return undefined;
    }
  }

  /** Removes a stored text, if there is one. Throws LocalError. */
  forget(service: string, requestId: string): void {
    wrapFileErrors(`the result of ${requestId} could not be removed`, () =>
      fs.rmSync(this.#buildPath(service, requestId), { force: true }),
    );
  }

  #isFresh(path: string): boolean {
    const stats = fs.statSync(path, { throwIfNoEntry: false });
    return stats !== undefined && Math.abs(this.now() - stats.mtimeMs) < KEPT_MS;
  }

  #removeOld(): void {
    for (const name of listFolder(this.folder)) {
      const path = join(this.folder, name);
      if (!this.#isFresh(path)) fs.rmSync(path, { force: true });
    }
  }

  #buildPath(service: string, requestId: string): string {
    return join(this.folder, `${hashSha256(`${service}\n${requestId}`).slice(0, 40)}.json`);
  }
}
