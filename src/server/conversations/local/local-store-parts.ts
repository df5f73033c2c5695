import type { Clock } from "../../../clock.js";
import type { KeyStore } from "../../keys/key-store.js";
import type { Log } from "../../monitoring/log.js";
import type { Contents } from "./contents.js";
import type { Journal } from "./journal/journal.js";
import type { LocalState } from "./local-state.js";

/** What a LocalStore is made of; its data folder and its memory differ in these only. */
export interface LocalStoreParts {
  keys: KeyStore;
  journal: Journal;
  contents: Contents;
  state: LocalState;
  clock: Clock;
  /** Least time in PENDING, ms. */
  pendingMs: number;
  log: Log;
  /** Called first when the store closes; resolves when nothing else works on the folder. */
  beforeClose(): Promise<void>;
  /** Called last, when nothing is open any more. */
  unlock(): void;
}
