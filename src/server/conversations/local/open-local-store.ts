import { join } from "node:path";
import type { Clock } from "../../../clock.js";
import { HeldError, lock } from "../../../lock.js";
import { makeFolder } from "../../folders.js";
import { KeyFile, noKeys } from "../../keys/key-file.js";
import type { Log } from "../../monitoring/log.js";
import { ServiceStartError } from "../../start-error.js";
import type { ConversationStore } from "../conversation-store.js";
import { carryOver } from "./carry-over.js";
import { Contents } from "./contents.js";
import { ExchangeFiles, memoryExchanges } from "./exchange-files.js";
import { MemoryJournal } from "./journal/journal.js";
import { FileJournal } from "./journal/journal-file.js";
import { LocalState } from "./local-state.js";
import { LocalStore } from "./local-store.js";
import { MemoryOutputs, OutputFiles } from "./outputs.js";

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
    const [journal, state] = [new MemoryJournal(), new LocalState()];
    const [outputs, jobs, data] = [new MemoryOutputs(), new MemoryOutputs(), new MemoryOutputs()];
    const contents = new Contents(journal, outputs, jobs, data, memoryExchanges);
    const [beforeClose, unlock] = [async () => {}, () => {}];
    return new LocalStore({ ...options, keys: noKeys, journal, contents, state, beforeClose, unlock });
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
      throw new ServiceStartError("DATA_HELD", message, { cause: error });
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
  let dead = 0;
  const journal = await FileJournal.open(
    join(dataDir, "journal.ndjson"),
    (entry, line) => {
      dead += state.restore(entry, line, opened);
    },
    () => state.kept(clock.now()),
    log,
  );
  journal.release({ offset: 0, length: 0 }, dead);
  await journal.compactIfDue();
  const outputs = new OutputFiles(join(dataDir, "outputs"));
  const endedJobs = new OutputFiles(join(dataDir, "ended-jobs"), false);
  const outcomeData = new OutputFiles(join(dataDir, "outcome-data"), false);
  const exchanges = new ExchangeFiles(join(dataDir, "exchanges"));
  const closing = new AbortController();
  const tidied = carryOver(state, journal, outputs, closing.signal)
    .then(() => journal.compactIfDue())
    .then(() => outputs.deleteUnwanted((requestId) => isWanted(state, requestId), closing.signal))
    .then(() => endedJobs.deleteUnwanted((requestId) => state.rows.has(requestId), closing.signal))
    .then(() => outcomeData.deleteUnwanted((requestId) => isNotStopped(state, requestId), closing.signal))
    .then(() => exchanges.deleteUnwanted((requestId) => isNotStopped(state, requestId), closing.signal))
    .catch((error) => log(`the data folder could not be tidied: ${error}`));
  const beforeClose = () => {
    closing.abort();
    return tidied;
  };
  return new LocalStore({
    ...options,
    keys: new KeyFile(dataDir, clock),
    journal,
    contents: new Contents(journal, outputs, endedJobs, outcomeData, exchanges),
    state,
    beforeClose,
    unlock,
  });
}

/** Whether an output's file may be needed: of an unfinished conversation it may have been written just now. */
function isWanted(state: LocalState, requestId: string): boolean {
  const status = state.rows.get(requestId)?.status;
  return status !== undefined && status !== "FAILED" && status !== "STOPPED";
}

/** What a researcher found is kept until its conversation is deleted, but not of a stopped one (§3). */
function isNotStopped(state: LocalState, requestId: string): boolean {
  const status = state.rows.get(requestId)?.status;
  return status !== undefined && status !== "STOPPED";
}
