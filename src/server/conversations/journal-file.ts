import { constants, createReadStream, promises as fs } from "node:fs";
import { join } from "node:path";
import type { Entry, Journal } from "./journal.js";

/** What a data folder held. */
export interface Opened {
  journal: Journal;
  entries: Entry[];
  /** Lines that could not be read; one torn by a crash is normal. */
  skipped: number;
}

/** Opens the journal of a data folder (JSON Lines, mode 0600) and reads what is in it. */
export async function openJournal(dataDir: string): Promise<Opened> {
  const path = join(dataDir, "journal.ndjson");
  const handle = await fs.open(path, constants.O_RDWR | constants.O_CREAT | constants.O_APPEND, 0o600);
  try {
    await handle.chmod(0o600);
    const { entries, skipped, torn } = await read(path);
    await syncFolder(dataDir);
    return { journal: new FileJournal(handle, (await handle.stat()).size, torn), entries, skipped };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

interface Waiting {
  line: string;
  resolve: () => void;
  reject: (error: unknown) => void;
}

/** Appends and syncs; entries that arrive during one sync share the next. */
class FileJournal implements Journal {
  #waiting: Waiting[] = [];
  #writing: Promise<void> | undefined;
  constructor(
    private readonly handle: fs.FileHandle,
    private size: number,
    /** Whether the last line has no end: the next one must not continue it. */
    private torn: boolean,
  ) {}

  append(entry: Entry): Promise<void> {
    const line = `${JSON.stringify(entry)}\n`;
    return new Promise((resolve, reject) => {
      this.#waiting.push({ line, resolve, reject });
      this.#writing ??= this.#writeAll();
    });
  }

  async close(): Promise<void> {
    await this.#writing;
    await this.handle.close();
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      try {
        await this.#write(batch.map(({ line }) => line).join(""));
        for (const { resolve } of batch) resolve();
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    // Not in a later turn: an entry that arrived in between would wait for ever.
    this.#writing = undefined;
  }

  async #write(text: string): Promise<void> {
    const bytes = Buffer.from(this.torn ? `\n${text}` : text);
    try {
      await this.handle.appendFile(bytes);
      await this.handle.datasync();
      this.size += bytes.length;
      this.torn = false;
    } catch (error) {
      // What is refused must not come to life after a restart.
      await this.handle.truncate(this.size).catch(() => {
        this.torn = true;
      });
      throw error;
    }
  }
}

async function read(path: string): Promise<{ entries: Entry[]; skipped: number; torn: boolean }> {
  const entries: Entry[] = [];
  let skipped = 0;
  let pieces: string[] = [];
  const take = () => {
    const line = pieces.join("");
    pieces = [];
    const entry = parsed(line);
    if (entry !== undefined) entries.push(entry);
    else if (line !== "") skipped += 1;
  };
  for await (const chunk of createReadStream(path, "utf8")) {
    const [first = "", ...rest] = String(chunk).split("\n");
    pieces.push(first);
    for (const piece of rest) {
      take();
      pieces.push(piece);
    }
  }
  const torn = pieces.join("") !== "";
  take();
  return { entries, skipped, torn };
}

function parsed(line: string): Entry | undefined {
  try {
    const entry: unknown = JSON.parse(line);
    return typeof entry === "object" && entry !== null && "kind" in entry ? (entry as Entry) : undefined;
  } catch {
    return undefined;
  }
}

/** Makes a new file's name outlive a crash; where folders cannot be synced, the system does so itself. */
async function syncFolder(path: string): Promise<void> {
  const handle = await fs.open(path, "r").catch(() => undefined);
  await handle?.sync().catch(() => {});
  await handle?.close();
}
