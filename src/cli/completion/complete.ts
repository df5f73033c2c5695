import { type Folders, folders } from "../../store/folders.js";
import type { Host } from "../terminal/host.js";
import { type Candidate, candidatesFor } from "./candidates.js";
import { joinWords } from "./join-words.js";
import type { CompletionTable } from "./table.js";
import { readWords } from "./words.js";

/** What a shell may put on its command line as it stands: nothing in it is special to any shell. */
const HARMLESS = /^[\w@%+=:,./-]+$/;

/**
 * Answers a completion script: `SHELL COUNT WORD…`, where the last of COUNT words is the one at the cursor. A line for
 * each candidate, `value<TAB>what it is`; or `:files` or `:folders`. On an error nothing is written: the user is
 * in the middle of typing (contract §7).
 */
export async function complete(argv: readonly string[], host: Host, tableUrl: URL): Promise<void> {
  try {
    await host.stdout.write(answer(argv, host, tableUrl));
  } catch {
    // The same.
  }
}

function answer([shell = "", count = "", ...typed]: readonly string[], host: Host, tableUrl: URL): string {
  // PowerShell 5 drops an empty argument.
  const words = Array.from({ length: Math.min(Number(count), 1_000) }, (_, index) => typed[index] ?? "");
  const { readFileSync } = process.getBuiltinModule("node:fs");
  const table: CompletionTable = JSON.parse(readFileSync(tableUrl, "utf8"));
  const breaks = shell === "bash" ? (host.env.RESEARCH_COMPLETION_BREAKS ?? "") : "";
  const { whole, typedBefore } = joinWords(words, breaks);
  const line = readWords(whole, table);
  const machine = { folders: foldersOrNone(host), env: host.env, now: host.clock.now() };
  const found = candidatesFor(line, table, machine);
  if (typeof found === "string") return `:${found}\n`;
  return found
    .map(({ value, about }) => ({ value: `${line.lead}${value}`, about }))
    .filter(({ value }) => HARMLESS.test(value) && value.startsWith(`${line.lead}${line.current}`))
    .map(({ value, about }) => lineOf({ value: value.slice(typedBefore), about }))
    .join("");
}

/** Without usable folders, what needs none is still completed. */
function foldersOrNone(host: Host): Folders {
  try {
    return folders(host);
  } catch {
    return { config: undefined, state: undefined };
  }
}

function lineOf({ value, about }: Candidate): string {
  return `${value}\t${about}\n`;
}
