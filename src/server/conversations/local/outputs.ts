import { createHash } from "node:crypto";
import { promises as fs } from "node:fs";
import { dirname, join } from "node:path";
import { syncFolder } from "../../folders.js";

/** The outputs of COMPLETED conversations: JSON text by request id. */
export interface Outputs {
  /** Resolves when the text would outlive a `kill -9`. */
  write(requestId: string, text: string): Promise<void>;
  read(requestId: string): Promise<string>;
  /** No error if there is none. */
  delete(requestId: string): Promise<void>;
}

/** Outputs of a service that lives in memory only. */
export class MemoryOutputs implements Outputs {
  readonly #texts = new Map<string, string>();

  async write(requestId: string, text: string): Promise<void> {
    this.#texts.set(requestId, text);
  }

  async read(requestId: string): Promise<string> {
    const text = this.#texts.get(requestId);
    if (text === undefined) throw new Error(`no output is kept of ${requestId}`);
    return text;
  }

  async delete(requestId: string): Promise<void> {
    this.#texts.delete(requestId);
  }
}

/** Outputs as files of their own (mode 0600), in 256 folders so that none grows too wide. */
export class OutputFiles implements Outputs {
  readonly #folders = new Set<string>();
  constructor(
    private readonly folder: string,
    /** False for what may be lost with the machine's power. */
    private readonly synced = true,
  ) {}

  async write(requestId: string, text: string): Promise<void> {
    const path = this.#path(requestId);
    const shard = dirname(path);
    if (!this.#folders.has(shard)) {
      await fs.mkdir(this.folder, { mode: 0o700 }).catch(unlessThere);
      await fs.mkdir(shard, { mode: 0o700 }).catch(unlessThere);
      if (this.synced) await syncFolder(this.folder);
      if (this.synced) await syncFolder(dirname(this.folder));
      this.#folders.add(shard);
    }
    const handle = await fs.open(path, "w", 0o600);
    try {
      await handle.writeFile(text);
      if (this.synced) await handle.datasync();
    } finally {
      await handle.close();
    }
    if (this.synced) await syncFolder(shard);
  }

  read(requestId: string): Promise<string> {
    return fs.readFile(this.#path(requestId), "utf8");
  }

  delete(requestId: string): Promise<void> {
    return fs.rm(this.#path(requestId), { force: true });
  }

  /** Deletes the files that `wanted` does not name: a crash between a file and its line in the journal leaves one. */
  async deleteUnwanted(wanted: (requestId: string) => boolean, signal: AbortSignal): Promise<void> {
    for (const shard of await fs.readdir(this.folder).catch(() => [])) {
      for (const name of await fs.readdir(join(this.folder, shard)).catch(() => [])) {
        if (signal.aborted) return;
        if (!wanted(name)) await fs.rm(join(this.folder, shard, name), { force: true });
      }
    }
  }

  #path(requestId: string): string {
    const shard = createHash("sha256").update(requestId).digest("hex").slice(0, 2);
    return join(this.folder, shard, requestId);
  }
}

function unlessThere(error: unknown): void {
  if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
}
