import * as fs from "node:fs";
import { basename, dirname, join } from "node:path";
import * as v from "valibot";
import {
  listFolder,
  makePrivate,
  makePrivateFolder,
  publishDraft,
  readIfExists,
  removeDraft,
  UnsyncedError,
} from "../../core/files/file-access.js";
import { acquireLock } from "../../core/files/file-lock.js";
import { describeSystemError, LocalError, wrapFileErrors } from "../../core/files/local-error.js";
import { isObject } from "../../core/json/exact-json.js";

/** Thrown if the settings file has invalid content. */
export class InvalidSettingsError extends LocalError {
  /** `text`: the content if it is not JSON, else undefined. The caller reads it to find the mistake; a parser's message could quote a key. */
  constructor(
    readonly path: string,
    what: string,
    readonly text?: string,
  ) {
    super(`the settings in ${path} are ${what}`);
  }
}

/** Checks for an object, because Valibot also accepts an array as one and drops its elements. */
const object = v.custom<Record<string, unknown>>(isObject);
/** `api-key-origin`: the origin in use when the key was stored. The key is sent to no other origin. */
const NAMES = [
  ...(["base-url", "api-key", "api-key-origin", "provider", "model", "set", "tier", "per-day"] as const),
  ...(["history", "status-method", "output-method", "output-path", "output-field"] as const),
];
const profile = v.pipe(object, v.looseObject(v.entriesFromList(NAMES, v.optional(v.string()))));
const store = v.pipe(
  object,
  v.looseObject({
    profile: v.optional(v.string()),
    profiles: v.optional(v.pipe(object, v.record(v.string(), profile)), {}),
  }),
);

export type Profile = v.InferOutput<typeof profile>;
export type StoredSettings = v.InferOutput<typeof store>;

export const NO_FOLDER = "no folder for settings: set HOME or RESEARCH_CONFIG_DIR to an absolute path";
const LOCK_WAIT_MS = 2_000;
const MAX_BYTES = 1 << 20;

/**
 * The settings file. Our own code reads it, because every command reads it and errors must name the place of a mistake.
 * conf writes it to a folder beside it: on a full disk conf writes only a part and reports success, so the file gets
 * its name only after it is known to be complete.
 */
export class SettingsFile {
  readonly path: string | undefined;

  /** `folder`: undefined if there is no place for settings. `notice`: called if other users could read the file. */
  constructor(
    folder: string | undefined,
    private readonly notice: ((text: string) => void) | undefined,
  ) {
    this.path = folder && join(folder, "config.json");
  }

  /** Reads the stored settings; no settings if the file is missing. Throws LocalError, naming path and place, for invalid content. */
  read(): StoredSettings {
    const { path, notice } = this;
    const text = path && wrapFileErrors(`could not read ${path}`, () => readIfExists(path, MAX_BYTES));
    if (!path || text === undefined) return { profiles: {} };
    try {
      if (notice && makePrivate(path))
        notice(`${path} could be read by others; it is now private (mode 0600)`);
    } catch {
      // The file belongs to another user; its settings are used all the same.
    }
    return parseSettings(path, text);
  }

  /** Changes the stored settings; only one process does so at a time. If it throws LocalError, the message says whether they changed. */
  async update(change: (stored: StoredSettings) => void): Promise<void> {
    const { path } = this;
    if (!path) throw new LocalError(NO_FOLDER);
    let release = () => {};
    try {
      makePrivateFolder(dirname(path));
      release = await acquireLock(`${path}.lock`, LOCK_WAIT_MS);
      const next = this.read();
      change(next);
      await writeSettings(path, next);
    } catch (error) {
      if (error instanceof LocalError) throw error;
      const stand =
        error instanceof UnsyncedError ? "are changed, but may not outlast a crash" : "are as they were";
      throw new LocalError(`could not write ${path}: ${describeSystemError(error)}; the settings ${stand}`, {
        cause: error,
      });
    } finally {
      release();
    }
  }
}

async function writeSettings(path: string, next: StoredSettings): Promise<void> {
  const { default: Conf } = await import("conf");
  const serialize = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;
  const [folder, draft] = [dirname(path), `${basename(path)}.draft-`];
  // No other process is writing now, so these files are left from a crash, and may contain a key.
  for (const name of listFolder(folder))
    if (name.startsWith(draft)) fs.rmSync(join(folder, name), { recursive: true });
  const drafts = fs.mkdtempSync(join(folder, draft));
  try {
    const conf = new Conf<Record<string, unknown>>({
      cwd: drafts,
      configFileMode: 0o600,
      accessPropertiesByDotNotation: false,
      serialize,
    });
    conf.store = next;
    if (fs.readFileSync(conf.path, "utf8") !== serialize(next)) throw new Error("the disk is full");
    publishDraft(conf.path, path);
  } finally {
    removeDraft(drafts);
  }
}

function parseSettings(path: string, text: string): StoredSettings {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new InvalidSettingsError(path, "not valid JSON", text);
  }
  const result = v.safeParse(store, value);
  if (result.success) return result.output;
  throw new InvalidSettingsError(path, `invalid at ${v.getDotPath(result.issues[0]) ?? "the top level"}`);
}
