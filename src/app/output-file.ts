import * as fs from "node:fs";
import { dirname, join } from "node:path";
import { getErrorCode, removeDraft } from "../core/files/file-access.js";
import { createLocalError, LocalError, wrapFileErrors } from "../core/files/local-error.js";

/** The errors of link(2) on a file system without hard links (exFAT, some network mounts). */
const NO_HARD_LINKS = ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"];

/** Throws LocalError if `path` could not be written: it exists (without `force`), is not a file, or its folder is not writable. */
export function checkOutputFile(path: string, force: boolean): void {
  const existing = lstatIfExists(path);
  if (existing?.isDirectory()) throw new LocalError(`${path} is a folder; name a file`);
  if (existing && !force) throw new LocalError(`${path} exists already; --force overwrites it`);
  if (existing?.isFIFO() || existing?.isSocket())
    throw new LocalError(`${path} is not a file; write to stdout instead (-o -)`);
  try {
    // Write a trial file, because an access check does not notice a file system that is read-only, full or special.
    fs.rmdirSync(makeDraftFolder(path));
  } catch (error) {
    throw createLocalError(`${path} cannot be written`, error);
  }
}

/** Writes a file completely or not at all. Replaces an existing file only with `force`. Throws LocalError. */
export function writeOutputFile(path: string, text: string | Uint8Array, force: boolean): void {
  checkOutputFile(path, force);
  wrapFileErrors(`${path} could not be written`, () => {
    // A device cannot be replaced like a file, so write to it directly.
    if (lstatIfExists(path)?.isCharacterDevice()) fs.writeFileSync(path, text);
    else replaceOrCreate(path, text, force);
  });
}

function replaceOrCreate(path: string, text: string | Uint8Array, force: boolean): void {
  const folder = makeDraftFolder(path);
  const draft = join(folder, "draft");
  try {
    fs.writeFileSync(draft, text, { flag: "wx", flush: true });
    if (!force) publishWithoutReplacing(draft, path);
    else {
      const old = lstatIfExists(path);
      // Keep a private file private.
      if (old?.isFile()) fs.chmodSync(draft, old.mode & 0o777);
      fs.renameSync(draft, path);
    }
  } finally {
    removeDraft(folder);
  }
}

/** Gives the draft its name with a link, which fails if a file with that name has appeared. Without links, reserves the name first. */
function publishWithoutReplacing(draft: string, path: string): void {
  try {
    fs.linkSync(draft, path);
  } catch (error) {
    if (!NO_HARD_LINKS.includes(getErrorCode(error) ?? "")) throw error;
    fs.closeSync(fs.openSync(path, "wx"));
    fs.renameSync(draft, path);
  }
}

/** Creates a folder beside the file, on the same file system. Its name is short, however long the file's name is. */
function makeDraftFolder(path: string): string {
  return fs.mkdtempSync(join(dirname(path), ".research-"));
}

function lstatIfExists(path: string): fs.Stats | undefined {
  try {
    return fs.lstatSync(path);
  } catch (error) {
    if (getErrorCode(error) === "ENOENT") return undefined;
    throw createLocalError(`${path} cannot be written`, error);
  }
}
