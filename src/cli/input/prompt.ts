import { UsageError } from "../../machine/errors.js";
import { checkSize, readTextFile, readTextStream } from "../../machine/read-text.js";
import type { Host } from "../terminal/host.js";

export interface PromptSource {
  argument: string | undefined;
  promptFile: string | undefined;
  /** Whether something else (a schema) reads stdin. */
  stdinTaken: boolean;
}

const HOW = 'Give it as one argument ("…"), on stdin, or with --prompt-file PATH.';

/**
 * The prompt: the argument; or stdin, when the argument is `-`, or when there is none and stdin is no terminal;
 * or a file, `-` being stdin. Throws UsageError for more than one, none, or a blank one, LocalError for an unreadable file.
 */
export async function readPrompt(
  source: PromptSource,
  stdin: Host["stdin"],
  signal: AbortSignal,
): Promise<string> {
  const { argument, promptFile, stdinTaken } = source;
  if (argument !== undefined && promptFile !== undefined) {
    throw new UsageError("two prompts: one as an argument and one in --prompt-file", "Give one of them.");
  }
  const fromStdin = argument === "-" || promptFile === "-";
  if (promptFile !== undefined && !fromStdin)
    return notBlank(await readTextFile(promptFile, "the prompt file", signal));
  if (argument !== undefined && !fromStdin) return notBlank(checkSize(argument, "the prompt"));
  if (fromStdin && stdinTaken)
    throw new UsageError(
      "the prompt and the schema cannot both come from stdin",
      "Give one of them as a file.",
    );
  if (stdinTaken || (!fromStdin && stdin.isTTY)) throw new UsageError("no prompt was given", HOW);
  return notBlank(await readTextStream(stdin.stream, "the prompt", signal));
}

function notBlank(prompt: string): string {
  if (prompt.trim() === "") throw new UsageError("the prompt is blank", HOW);
  return prompt;
}
