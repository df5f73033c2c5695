import { statSync } from "node:fs";
import type { Clock } from "../clock.js";
import { LocalError } from "../store/errors.js";
import type { Environment } from "../store/folders.js";
import { readSmallFile, readTextFile } from "./read-text.js";

/** A key file of any service is a line; this keeps `/dev/zero` out. */
const KEY_FILE_BYTES = 65_536;

/** How long a key is waited for that a program writes, as in `RESEARCH_API_KEY_FILE=<(pass show research)`. */
const KEY_WAIT_MS = 10_000;

/** Gives the key in a file: its text without the white space around it. Throws LocalError or UsageError. */
export type ReadKey = (path: string) => string;

export const readKeyFile: ReadKey = (path) => readSmallFile(path, "the key file", KEY_FILE_BYTES).trim();

/**
 * How the key file that the environment names is read. A FIFO can be read once and makes its reader wait: it is read
 * now, and its error is thrown when the key is asked for. Rejects with `signal.reason`.
 */
export async function keyReader(env: Environment, clock: Clock, signal: AbortSignal): Promise<ReadKey> {
  const path = env.RESEARCH_API_KEY_FILE;
  if (!path || env.RESEARCH_API_KEY || !isFifo(path)) return readKeyFile;
  const read = await waitForKey(path, clock, signal).then(
    (key) => () => key,
    (error: unknown) => () => {
      throw error;
    },
  );
  signal.throwIfAborted();
  return read;
}

/** Reads a key from a file, a FIFO as well, for at most ten seconds. Rejects with LocalError, UsageError or `signal.reason`. */
export async function waitForKey(path: string, clock: Clock, signal: AbortSignal): Promise<string> {
  const late = new AbortController();
  const done = new AbortController();
  const limit = clock.sleep(KEY_WAIT_MS, done.signal).then(
    () =>
      late.abort(
        new LocalError(
          `the key file ${path} could not be read: nothing came within ${KEY_WAIT_MS / 1_000} s`,
        ),
      ),
    () => {},
  );
  try {
    const both = AbortSignal.any([signal, late.signal]);
    return (await readTextFile(path, "the key file", both, KEY_FILE_BYTES)).trim();
  } finally {
    done.abort();
    await limit;
  }
}

/** False for a path that cannot be looked at: reading it says why, if the key is asked for. */
function isFifo(path: string): boolean {
  try {
    return statSync(path).isFIFO();
  } catch {
    return false;
  }
}
