import { resolve } from "node:path";
import type { Readable } from "node:stream";
import { CodedError } from "../../app/errors.js";
import { describeFailure } from "../../app/failure.js";
import { waitUnlessAborted } from "../../core/clock.js";
import type { Status } from "../../core/protocol/conversation.js";
import type { Terminal } from "../terminal/reporter.js";

/** A request that ended, and the file its result is in where that was fetched. */
export interface Done {
  requestId: string;
  status: Status;
  file?: string | undefined;
}

/** What a command left running in the background may still print after it, in milliseconds. */
const LAST_WORDS_MS = 500;

/** Runs a shell command for each request that ended, one after the other, while the command goes on. */
export class OnDone {
  #queue: Promise<void> = Promise.resolve();
  #failures = 0;

  /** Undefined if no command was given. */
  static create(terminal: Terminal, command: string | undefined): OnDone | undefined {
    return command === undefined ? undefined : new OnDone(terminal, command);
  }

  private constructor(
    private readonly terminal: Terminal,
    private readonly command: string,
  ) {}

  /** Has the command run when its turn comes. `after` is called when it has ended, but for an interruption. */
  run(done: Done, after?: () => void): void {
    this.#queue = this.#queue.then(async () => {
      if (this.terminal.signal.aborted) return;
      await this.#run(done);
      after?.();
    });
  }

  /** Waits for what is still to be run, or for the signal. */
  async drain(): Promise<void> {
    const { signal } = this.terminal;
    await waitUnlessAborted(this.#queue, signal).catch((error) => {
      if (!signal.aborted) throw error;
    });
  }

  /** The same; a failure turns the exit code 0 into 1, and then it is an error. */
  async settle(exitCode: number): Promise<number> {
    await this.drain();
    if (exitCode !== 0 || this.#failures === 0) return exitCode;
    const times = this.#failures === 1 ? "once" : `${this.#failures} times`;
    const failure = describeFailure(new CodedError("INTERNAL", `the command of --on-done failed ${times}`));
    await this.terminal.reporter.writeError(failure);
    return failure.exit_code;
  }

  async #run({ requestId, status, file }: Done): Promise<void> {
    const { removeServiceSecrets } = await import("../../core/secrets/environment.js");
    const env = {
      ...removeServiceSecrets(this.terminal.host.env),
      RESEARCH_REQUEST_ID: requestId,
      RESEARCH_STATUS: status,
      RESEARCH_RESULT_FILE: file && resolve(file),
    };
    const fault = await this.#findShell(env).catch((error: Error) => error.message);
    if (fault === undefined) return;
    this.#failures++;
    await this.terminal.reporter.writeNotice("ON_DONE_FAILED", `--on-done failed for ${requestId}: ${fault}`);
  }

  /** Returns how the command failed; undefined if it did not. Throws if it could not be started. */
  async #findShell(env: NodeJS.ProcessEnv): Promise<string | undefined> {
    const { spawn } = await import("node:child_process");
    const child = spawn(this.command, { shell: true, stdio: ["ignore", "pipe", "pipe"], env });
    const relayed = Promise.all([this.#relay(child.stdout), this.#relay(child.stderr)]);
    const fault = await new Promise<string | undefined>((tell, reject) => {
      child.once("error", reject);
      child.once("exit", (code, signal) => {
        if (signal) tell(`it died of ${signal}`);
        else tell(code === 0 ? undefined : `it ended with ${code}`);
      });
    });
    const timer = new AbortController();
    const enough = this.terminal.host.clock.sleep(LAST_WORDS_MS, timer.signal).catch(() => {});
    await Promise.race([relayed, enough]);
    timer.abort();
    return fault;
  }

  /** What the command prints goes to stderr, in the form that stderr has. */
  async #relay(stream: Readable): Promise<void> {
    const { createInterface } = await import("node:readline");
    const { reporter } = this.terminal;
    for await (const line of createInterface({ input: stream })) {
      await (reporter.json ? reporter.writeNotice("ON_DONE", line) : reporter.say(line));
    }
  }
}
