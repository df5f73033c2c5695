import * as fs from "node:fs";
import { dirname } from "node:path";
import { inWords, LocalError, systemCode } from "../store/errors.js";

/**
 * Throws LocalError where `path` could not be written: it exists (and `force` is not given), it is a folder, or
 * its folder is missing or closed to us.
 */
export function checkTarget(path: string, force: boolean): void {
  const there = lstat(path);
  if (there?.isDirectory()) throw new LocalError(`${path} is a folder; name a file`);
  if (there && !force) throw new LocalError(`${path} exists already; --force overwrites it`);
  try {
    fs.accessSync(dirname(path), fs.constants.W_OK);
    if (!fs.statSync(dirname(path)).isDirectory()) throw new LocalError(`${dirname(path)} is no folder`);
  } catch (error) {
    if (error instanceof LocalError) throw error;
    throw new LocalError(`${path} cannot be written: ${inWords(error)}`, { cause: error });
  }
}

/** Writes a file whole or not at all, and never over another one without `force`. Throws LocalError. */
export function writeTarget(path: string, text: string | Uint8Array, force: boolean): void {
  checkTarget(path, force);
  const there = lstat(path);
  try {
    // A pipe or a device has nothing to replace; what is written to it is gone.
    if (there && !there.isFile() && !there.isSymbolicLink()) fs.writeFileSync(path, text);
    else replace(path, text, force);
  } catch (error) {
    throw new LocalError(`${path} could not be written: ${inWords(error)}`, { cause: error });
  }
}

function replace(path: string, text: string | Uint8Array, force: boolean): void {
  const draft = `${path}.${process.pid}.part`;
  try {
    const fd = fs.openSync(draft, "wx");
    try {
      fs.writeFileSync(fd, text);
      fs.fsyncSync(fd);
    } finally {
      fs.closeSync(fd);
    }
    // A link, unlike a rename, fails where a file has appeared meanwhile.
    if (force) fs.renameSync(draft, path);
    else fs.linkSync(draft, path);
  } finally {
    fs.rmSync(draft, { force: true });
  }
}

function lstat(path: string): fs.Stats | undefined {
  try {
    return fs.lstatSync(path);
  } catch (error) {
    if (systemCode(error) === "ENOENT" || systemCode(error) === "ENOTDIR") return undefined;
    throw new LocalError(`${path} cannot be looked at: ${inWords(error)}`, { cause: error });
  }
}
