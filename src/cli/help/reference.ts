import { PROVIDERS, type Provider } from "../../client/dialects/providers.js";
import variables from "./variables.txt?raw";

/** The meaning of every exit code (contract §1.5), for the help and the reference. For a signal, the code that a shell shows. */
export const EXIT_CODE_MEANINGS: Readonly<Record<string, string>> = {
  0: "done; for `watch` and `run`: COMPLETED",
  1: "a defect of this program, or something unforeseen",
  2: "bad input: usage, a blank prompt, an invalid schema, no base URL configured, `VALIDATION_ERROR`; a request that a provider does not support, or answers with 400, 404 or 422; if this program found the error, nothing was sent",
  3: "the research ended FAILED, or a provider's ended without a result (`NO_RESULT`)",
  4: "not authenticated: no key, `INVALID_API_KEY`, any other 401 or 403",
  5: "not found: `REQUEST_NOT_FOUND`, any other 404 (2 if a provider answers a create with it); `@last` with an empty history",
  6: "refused: not allowed in this state, refused by the service, or no money left at a provider; nothing was created",
  7: "rate limited; `DAY_LIMIT`: your own `per-day` limit, `BUDGET`: a budget of the service",
  8: "not finished yet: `watch --timeout` reached, `output` asked too early",
  9: "the service could not be reached, or its answer could not be read; nothing was created",
  10: "the research ended STOPPED",
  11: "`create`: outcome unknown; no readable answer came back, and the request may or may not exist",
  12: "this machine: a file could not be read or written, or exists already",
  13: "`--strict`: the result does not fit its schema",
  14: "`check`: a source does not say what a sentence says, contradicts it, or is gone",
  15: "`diff`: the two results differ in substance",
  "130, 143, 129": "ended by SIGINT, SIGTERM or SIGHUP, after printing how to resume",
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
  .replace("{{provider keys}}", PROVIDERS.flatMap(describeKeys).join("\n"))
  .trimEnd()
  .split("\n")
  .map((line) => {
    const [, name = "", flag = null, commands, description = ""] =
      /^(\S+?)(?: \((--\S+)\))?(?: of ([^:]+))?: (.*)$/.exec(line) ?? [];
    return { name, description, flag, commands: commands?.split(", ") ?? null };
  });

function describeKeys({ keyVariable, otherKeyVariable, title }: Provider): string[] {
  return [keyVariable, otherKeyVariable ?? []]
    .flat()
    .map((name) => `${name}: a key of ${title}, used if there is no other, and only at its own origin`);
}

/** Finds the variable that sets the same as a flag of a command; null if there is none. */
export function findVariable(flag: string, command: string): string | null {
  const isSetSame = (variable: Variable) =>
    variable.flag === flag && (variable.commands?.includes(command) ?? true);
  return VARIABLES.find(isSetSame)?.name ?? null;
}
