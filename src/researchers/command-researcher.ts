import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { onAbort, systemClock } from "../core/clock.js";
import { JsonText, stringifyExact } from "../core/json/exact-json.js";
import { type Researcher, ResearchFailure, type ResearchJob } from "../core/researcher.js";
import { removeSecrets } from "../core/secrets/remove-secrets.js";
import { describeError } from "../core/text/format-text.js";
import { ConversationStopped } from "../server/conversations/conversation-store.js";
import { endGroup } from "../server/processes/process-group.js";
import { Supervisor } from "../server/processes/supervisor.js";

/** The largest output of a program, in bytes. */
export const MAX_OUTPUT_BYTES = 64 * 1_048_576;
/** How much of the end of stderr is kept, in bytes; a failure reports the last line. */
const STDERR_TAIL = 8_192;
/** How long the pipes may stay open after the program and its process group have ended, ms. */
const PIPE_GRACE_MS = 1_000;

export interface CommandOptions {
  /** A command line for the shell. The program gets a ResearchJob as one JSON object on stdin, and prints the output. */
  command: string;
  /** The environment, from which secrets are removed before the program gets it. */
  env: NodeJS.ProcessEnv;
}

/** Creates a researcher that runs a program for each conversation, in a process group that ends with this process. */
export function createCommandResearcher({ command, env }: CommandOptions): Researcher {
  const clean = removeSecrets(env);
  const supervisor = new Supervisor();
  return {
    async research(job, signal) {
      signal.throwIfAborted();
      const child = supervisor.spawn(command, clean);
      // SIGTERM: the client stopped the request and needs no result. SIGHUP: the same question will be run again later.
      const isStopped = () => signal.reason instanceof ConversationStopped;
      const release = onAbort(signal, () => void endGroup(child, isStopped() ? "SIGTERM" : "SIGHUP"));
      try {
        return parseProgramOutput(job, await runProgram(child, job));
      } finally {
        release();
        await supervisor.end(child);
        signal.throwIfAborted();
      }
    },
    close: async () => supervisor.close(),
  };
}

/** Runs the program and collects its output. Rejects with a ResearchFailure if the program fails. */
async function runProgram(child: ChildProcess, job: ResearchJob): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  let stderr = "";
  let failure: ResearchFailure | undefined;
  child.stdout?.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size <= MAX_OUTPUT_BYTES) {
      chunks.push(chunk);
      return;
    }
    failure ??= new ResearchFailure(`The researcher printed more than ${MAX_OUTPUT_BYTES / 1_048_576} MiB.`);
    chunks.length = 0;
    child.stdout?.destroy();
    void endGroup(child);
  });
  child.stderr?.on("data", (chunk: Buffer) => {
    stderr = (stderr + chunk.toString("utf8")).slice(-STDERR_TAIL);
  });
  // A program need not read its question, so a failed write to stdin is not an error.
  child.stdin?.on("error", () => {});
  child.stdin?.end(`${stringifyExact(job)}\n`);
  child.once("exit", () => void killLeftoverProcesses(child));
  const [code, signal] = await once(child, "close").catch((error: unknown) => {
    throw new ResearchFailure(`The researcher could not be started: ${describeError(error)}`);
  });
  if (failure !== undefined) throw failure;
  if (code !== 0) {
    const reason = stderr.trimEnd().split("\n").at(-1)?.trim();
    const how = code === null ? `was ended by ${signal}` : `ended with exit code ${code}`;
    throw new ResearchFailure(reason || `The researcher ${how} and printed no error.`);
  }
  return Buffer.concat(chunks, size).toString("utf8");
}

/** Ends processes that the program left behind, which would keep the pipes open. */
async function killLeftoverProcesses(child: ChildProcess): Promise<void> {
  await endGroup(child);
  const closed = new AbortController();
  child.once("close", () => closed.abort());
  await systemClock.sleep(PIPE_GRACE_MS, closed.signal).catch(() => {});
  child.stdout?.destroy();
  child.stderr?.destroy();
}

function parseProgramOutput(job: ResearchJob, printed: string): unknown {
  if (!job.structured_output) return printed;
  try {
    JSON.parse(printed);
    return new JsonText(printed.trim());
  } catch {
    throw new ResearchFailure("The researcher's output is not JSON, although the request needs it.");
  }
}
