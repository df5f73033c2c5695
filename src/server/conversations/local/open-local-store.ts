import { join } from "node:path";
import type { Clock } from "../../../clock.js";
import { HeldError, lock } from "../../../lock.js";
import { makeFolder } from "../../files.js";
import { KeyFile, noKeys } from "../../keys/key-file.js";
import type { Log } from "../../monitoring/log.js";
import { ServiceStartError } from "../../start-error.js";
import type { ConversationStore } from "../conversation-store.js";
import { FolderContents, MemoryContents } from "./contents.js";
import { FileJournal, memoryJournal } from "./journal.js";
import { LocalState } from "./local-state.js";
import { LocalStore } from "./local-store.js";

export interface LocalStoreOptions {
  /** Without it everything is in memory, and gone with the process. */
  dataDir?: string;
  /** Least time in PENDING, ms. */
  pendingMs: number;
  clock: Clock;
  log: Log;
}

/** Opens the store of one process; a data folder for this process alone. Rejects with a ServiceStartError. */
export async function openLocalStore({ dataDir, ...options }: LocalStoreOptions): Promise<ConversationStore> {
  if (dataDir === undefined) {
    const [contents, state, close] = [new MemoryContents(), new LocalState(), async () => {}];
    return new LocalStore({ ...options, keys: noKeys, journal: memoryJournal, contents, state, close });
  }
  try {
    await makeFolder(dataDir);
    const unlock = await lock(join(dataDir, "lock"));
    try {
      return await openFolder(dataDir, options, unlock);
    } catch (error) {
      unlock();
      throw error;
    }
  } catch (error) {
    if (error instanceof ServiceStartError) throw error;
    if (error instanceof HeldError) {
      const message = `The data folder ${dataDir} is held by ${error.holder}${error.advice}.`;
      throw new ServiceStartError(message, { cause: error });
    }
    throw ServiceStartError.ofDataFolder(error, dataDir);
  }
}

async function openFolder(
  dataDir: string,
  options: Omit<LocalStoreOptions, "dataDir">,
  unlock: () => void,
): Promise<ConversationStore> {
  const { clock, log } = options;
  const state = new LocalState();
  const opened = clock.now();
  const journal = await FileJournal.open(
    join(dataDir, "journal.ndjson"),
    (entry) => state.restore(entry, opened),
    () => state.kept(clock.now()),
    log,
  );
  const contents = new FolderContents(dataDir);
  const closing = new AbortController();
  const tidied = contents
    .deleteUnwanted((kind, requestId) => {
      const status = state.rows.get(requestId)?.status;
      if (status === undefined || kind === "ended-jobs") return status !== undefined;
      // Of a stopped conversation nothing is kept (§3); the output of an unfinished one may have been written just now.
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
