import * as fs from "node:fs";
import { dirname } from "node:path";
import { inWords, systemCode } from "../../../../store/errors.js";
import { shellWord } from "../../../../text/phrases.js";
import type { Finding } from "../check.js";

/** Where something is kept, and what it is called in messages. */
export interface StoragePlace {
  what: string;
  folder: string;
  file: string;
  /** Whether it has to be written for the program to work. */
  written: boolean;
}

/** What is wrong with a place: it cannot be used (12), or others can read it; undefined if it is fine, or empty yet. */
export function placeProblem({ what, folder, file, written }: StoragePlace): Finding | undefined {
  try {
    if (written) {
      const existing = nearestExisting(folder);
      fs.accessSync(existing, fs.constants.W_OK);
      if (!fs.statSync(existing).isDirectory()) return unusable(what, `${existing} is not a folder`, folder);
      if (fs.statfsSync(existing).bavail === 0) return unusable(what, "the disk is full", folder);
    }
    if (!fs.existsSync(file)) return undefined;
    if (!fs.statSync(file).isFile()) return unusable(what, `${file} is not a file`, file);
    fs.accessSync(file, fs.constants.R_OK | (written ? fs.constants.W_OK : 0));
    const open = [
      ...(mode(file) & 0o077 ? [`chmod 600 ${shellWord(file)}`] : []),
      ...(mode(folder) & 0o077 ? [`chmod 700 ${shellWord(folder)}`] : []),
    ];
    if (open.length === 0 || process.platform === "win32") return undefined;
    return {
      status: "warn",
      message: `others can read the ${what} in ${folder}`,
      publicMessage: `others can read the ${what}`,
      fix: open.join(" && "),
    };
  } catch (error) {
    return unusable(what, inWords(error), systemCode(error) === "EACCES" ? file : folder);
  }
}

function unusable(what: string, why: string, path: string): Finding {
  return {
    status: "fail",
    message: `the ${what} in ${path} cannot be used: ${why}`,
    publicMessage: `the ${what} cannot be used`,
    fix: why.includes("full")
      ? `df -h ${shellWord(path)} shows the disk; make room on it`
      : `ls -ld ${shellWord(path)} shows who may use it; correct that, or name another folder`,
    exitCode: 12,
  };
}

function nearestExisting(path: string): string {
  return fs.existsSync(path) || dirname(path) === path ? path : nearestExisting(dirname(path));
}

function mode(path: string): number {
  return fs.statSync(path).mode & 0o777;
}
