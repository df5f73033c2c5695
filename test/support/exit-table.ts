import type { CommandEntry } from "../../src/cli/help/help-document.js";
import { inProcess } from "./in-process.js";

/** What says which exit codes each command has. */
const HELP = ["help", "--json"];
let table: Promise<Map<string, ReadonlySet<number>>> | undefined;

/** The exit codes of each command as `research help --json` names them. */
async function exitTable(): Promise<Map<string, ReadonlySet<number>>> {
  const { stdout } = await inProcess(HELP, { env: {} });
  const { commands } = JSON.parse(stdout) as { commands: CommandEntry[] };
  return new Map(commands.map(({ name, exit_codes }) => [name, new Set(exit_codes.map(({ code }) => code))]));
}

const WITH_VALUE = new Set(["-p", "--profile", "--base-url", "--request-timeout"]);

/** The words of the command that a command line names; empty for none. */
function commandOf(argv: readonly string[], names: ReadonlyMap<string, unknown>): string {
  const words = argv.filter((word, at) => !word.startsWith("-") && !WITH_VALUE.has(argv[at - 1] ?? ""));
  const whole = [3, 2, 1].map((length) => words.slice(0, length).join(" "));
  return whole.find((name) => names.has(name)) ?? "";
}

/**
 * Throws if a command ended with an exit code that its help does not name. A defect (1) and a death by a signal are in
 * no table; `serve --exec` ends as the command that it runs.
 */
export async function checkExit(argv: readonly string[], code: number | null): Promise<void> {
  if (code === null || code === 1 || code > 128 || argv.includes("--exec") || argv[0] === "__complete")
    return;
  if (argv.join() === HELP.join() && code === 0) return;
  table ??= exitTable();
  const names = await table;
  const command = commandOf(argv, names);
  const named = names.get(command);
  // A command that only has others below it has no table.
  if (named && named.size > 0 && !named.has(code))
    throw new Error(`\`${command} --help\` lacks the exit code ${code} of: research ${argv.join(" ")}`);
}
