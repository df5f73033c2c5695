import { existsSync, promises as fs } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../../core/clock.js";
import { ignoreExisting } from "../../../core/files/async-file-access.js";
import { makePrivateFolder, readIfExists } from "../../../core/files/file-access.js";
import { acquireLock, LockHeldError } from "../../../core/files/file-lock.js";
import { isFinal } from "../../../core/protocol/conversation.js";
import { KeyFile, noKeys } from "../../keys/key-file.js";
import type { Log } from "../../monitoring/operator-log.js";
import { ServiceStartError } from "../../start-error.js";
import type { ConversationStore, Overview } from "../conversation-store.js";
import { FolderContentStore, MemoryContentStore } from "./content-store.js";
import { FileJournal, memoryJournal, readJournal } from "./journal.js";
import { computeKeyFigures } from "./key-figures.js";
import { createUsageReader } from "./local-overview.js";
import { LocalState, type StoredConversation } from "./local-state.js";
import { LocalStore } from "./local-store.js";

const JOURNAL = "journal.ndjson";
/** The file that names the format of the data folder. It is written before the journal. */
const FORMAT = { file: "format", text: "1\n" };

export interface LocalStoreOptions {
  /** The data folder; undefined keeps everything in memory, until the process ends. */
  dataDir?: string;
  /** Minimum time in PENDING, in ms. */
  pendingMs: number;
  clock: Clock;
  log: Log;
}

/** Opens the store of a single process, and locks its data folder. Rejects with a ServiceStartError. */
export async function openLocalStore({ dataDir, ...options }: LocalStoreOptions): Promise<ConversationStore> {
  if (dataDir === undefined) {
    const [contents, state, close] = [new MemoryContentStore(), new LocalState(), async () => {}];
    return new LocalStore({ ...options, keys: noKeys, journal: memoryJournal, contents, state, close });
  }
  try {
    makePrivateFolder(dataDir);
    const unlock = await acquireLock(join(dataDir, "lock"));
    try {
      return await openDataFolder(dataDir, options, unlock);
    } catch (error) {
      unlock();
      throw error;
    }
  } catch (error) {
    if (error instanceof ServiceStartError) throw error;
    if (error instanceof LockHeldError) {
      const message = `The data folder ${dataDir} is held by ${error.holder}${error.advice}.`;
      throw new ServiceStartError(message, { cause: error });
    }
    throw ServiceStartError.fromDataFolder(error, dataDir);
  }
}

/** Rejects with a ServiceStartError if a program that uses another format wrote the data folder. */
export async function checkDataFormat(dataDir: string): Promise<void> {
  const format = readIfExists(join(dataDir, FORMAT.file), 16);
  if (format === FORMAT.text || (format === undefined && !existsSync(join(dataDir, JOURNAL)))) return;
  const writer = format === undefined ? "before the first release" : `of data format ${format.trim()}`;
  throw new ServiceStartError(
    `The data folder ${dataDir} was written by a program ${writer}, which this one does not read. Name another folder.`,
  );
}

/** Reads from the journal what the keys of a data folder spent and used, even while its service runs. Changes nothing. */
export async function readKeyUsage(
  dataDir: string,
  clock: Clock,
): Promise<Pick<Overview, "listSpent" | "use">> {
  const state = new LocalState();
  await readJournal(join(dataDir, JOURNAL), (entry) => {
    state.restore(entry, clock.now());
    // A start would ignore these entries, but here the running conversations count.
    if (entry.kind === "begun") state.apply(entry);
  });
  const hasBegun = ({ status, remote }: StoredConversation) =>
    !isFinal(status) && (remote !== undefined || status === "PROCESSING");
  const running = [...state.rows.values()].filter(hasBegun);
  const listRunning = (key: string) => running.filter((row) => row.key === key);
  return createUsageReader(state, clock, (key) =>
    computeKeyFigures(state, key, { now: clock.now(), running: listRunning(key.id), facts: {} }),
  );
}

async function openDataFolder(
  dataDir: string,
  options: Omit<LocalStoreOptions, "dataDir">,
  unlock: () => void,
): Promise<ConversationStore> {
  const { clock, log } = options;
  const state = new LocalState();
  const opened = clock.now();
  await checkDataFormat(dataDir);
  const written = fs.writeFile(join(dataDir, FORMAT.file), FORMAT.text, {
    flag: "wx",
    mode: 0o600,
    flush: true,
  });
  await written.catch(ignoreExisting);
  const journal = await FileJournal.open(
    join(dataDir, JOURNAL),
    (entry) => state.restore(entry, opened),
    () => state.listKept(clock.now()),
    log,
  );
  const contents = new FolderContentStore(dataDir);
  const closing = new AbortController();
  const tidied = contents
    .deleteUnwanted((kind, requestId) => {
      const status = state.rows.get(requestId)?.status;
      if (status === undefined || kind === "ended-jobs") return status !== undefined;
      // A stopped conversation keeps nothing (§3). The output of an unfinished one may have been written just before a crash.
      return status !== "STOPPED" && !(kind === "outputs" && status === "FAILED");
    }, closing.signal)
    .catch((error) => log(`the data folder could not be tidied: ${error}`));
  const close = async () => {
    closing.abort();
    await tidied;
    await journal.close().finally(unlock);
  };
  return new LocalStore({ ...options, keys: new KeyFile(dataDir, clock), journal, contents, state, close });
}
