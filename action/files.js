import { lstatSync, readdirSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { InputError } from "./arguments.js";

/**
 * Throws InputError unless a result can be written to `path` as a file (or a folder, for a batch) of its own: a runner
 * reads commands from stdout, and a pipe or a device never gives a file.
 * @param {string} path
 * @param {"file" | "folder"} kind
 */
export function checkOutput(path, kind) {
  const stat = statOrRefuse(path);
  const isOther = stat !== undefined && !(kind === "file" ? stat.isFile() : stat.isDirectory());
  if (path === "-" || isOther || isSpecial(path))
    throw new InputError(`invalid output: ${JSON.stringify(path)} is not a regular ${kind}`);
}

/** @param {string} path */
function statOrRefuse(path) {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    throw new InputError(`invalid output: ${/** @type {Error} */ (error).message}`);
  }
}

/**
 * Whether a path leads to the devices or to the open files of a process.
 * @param {string} path
 */
function isSpecial(path) {
  try {
    return /^\/(dev|proc)(\/|$)/.test(join(realpathSync(dirname(resolve(path))), basename(path)));
  } catch {
    // The command says that the folder is missing.
    return false;
  }
}

/**
 * What changes whenever a file, or an entry of a folder, is written anew; undefined if there is none. A symbolic link in a
 * folder is not followed: it may lead back to the folder.
 * @param {string} path
 * @param {typeof statSync | typeof lstatSync} statOf
 * @returns {string | undefined}
 */
export function stampOf(path, statOf = statSync) {
  const stat = statOf(path, { bigint: true, throwIfNoEntry: false });
  if (stat === undefined) return undefined;
  const own = `${stat.ino} ${stat.mtimeNs} ${stat.size}`;
  return stat.isDirectory()
    ? [own, ...readdirSync(path).map((name) => stampOf(join(path, name), lstatSync))].join()
    : own;
}
