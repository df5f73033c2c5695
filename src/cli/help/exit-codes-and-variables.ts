import { PROVIDERS, type Provider } from "../../client/dialects/providers.js";
import variables from "./variables.txt?raw";

/** The meaning of every exit code (contract §1.5), for the help and the reference. For a signal, the code that a shell shows. */
export const EXIT_CODE_MEANINGS: Readonly<Record<string, string>> = {
  0: "done; for `watch` and `run`: COMPLETED",
  1: "a defect of this program, or something unforeseen",
  2: "bad input: wrong usage, a blank prompt, an invalid schema, no base URL, or the service answered `VALIDATION_ERROR`. Also: the provider does not support the request, or answered the create request with 400, 404 or 422. If this program finds the error, it sends nothing.",
  3: "the research FAILED, or a provider completed it without a result (`NO_RESULT`)",
  4: "not authenticated: no key, `INVALID_API_KEY`, any other 401 or 403",
  5: "not found: `REQUEST_NOT_FOUND`, another 404, or `@last` if the history is empty. If a provider answers a create request with 404, the exit code is 2.",
  6: "refused: the state of the request does not allow the command, the service refused the command, or the account has no money left (`NO_CREDIT`). If a create request was refused, nothing was created.",
  7: "a limit was reached. The error code `DAY_LIMIT` means your own `per-day` limit. `BUDGET` means a budget of your key at a `research serve` service.",
  8: "not finished yet: `--timeout` was reached, or `output` was run too early",
  9: "the service could not be reached, or its answer could not be read; `check`: no citation could be checked. If a create request exits with 9, nothing was created.",
  10: "the research ended STOPPED",
  11: "`create`: outcome unknown; the create request was sent, no readable answer came back, and the request may or may not exist",
  12: "a file on this machine could not be read or written, or exists already",
  13: "`--strict`: the result does not fit its schema",
  14: "`check`: a source does not say what a sentence says, contradicts it, or is gone",
  15: "`diff`: the two results differ in their statements, numbers, dates or quotations",
  129: "ended by SIGHUP, after printing how to resume",
  130: "ended by SIGINT (Ctrl-C), after printing how to resume",
  143: "ended by SIGTERM, after printing how to resume",
};

/** An environment variable that the program reads. */
export interface Variable {
  name: string;
  description: string;
  /** The long flag that takes precedence; null without one. */
  flag: string | null;
  /** The commands that read the variable; null if all do. */
  commands: readonly string[] | null;
}

/**
 * Every variable, in the order of the help (contract §2, §4). A line of variables.txt is `NAME (flag) of COMMANDS: description`.
 * RESEARCH_MODEL_NAME names no flag, because --model of run, batch and compare sets the provider's model.
 */
export const VARIABLES: readonly Variable[] = variables
  .replace("{{provider keys}}", PROVIDERS.flatMap(describeKeyVariables).join("\n"))
  .trimEnd()
  .split("\n")
  .map((line) => {
    const [, name = "", flag = null, commands, description = ""] =
      /^(\S+?)(?: \((--\S+)\))?(?: of ([^:]+))?: (.*)$/.exec(line) ?? [];
    return { name, description, flag, commands: commands?.split(", ") ?? null };
  });

function describeKeyVariables({ keyVariable, otherKeyVariable, title }: Provider): string[] {
  return [keyVariable, otherKeyVariable ?? []]
    .flat()
    .map(
      (name) =>
        `${name}: your key at ${title}; used only if neither the profile nor RESEARCH_API_KEY has a key for the account; sent only to ${title}`,
    );
}

/** Finds the variable that sets the same as a flag of a command; null if there is none. */
export function findVariable(flag: string, command: string): string | null {
  const isSetSame = (variable: Variable) =>
    variable.flag === flag && (variable.commands?.includes(command) ?? true);
  return VARIABLES.find(isSetSame)?.name ?? null;
}
