import { setMaxListeners } from "node:events";
import { ResearchError } from "../client/errors.js";
import { parseExact } from "../json/exact-json.js";
import { EXIT_CODES, UsageError } from "../machine/errors.js";
import { type Failure, failureOf } from "../machine/failure.js";
import { isFinal, type Status } from "../protocol/conversation.js";
import { InvalidSettingsError } from "../store/settings.js";
import type { WatchOutcome } from "../workflows/follow.js";
import type { Host, Signal } from "./terminal/host.js";

/** A signal came. `resume` says how to go on where this command ended, `requestId` names its request if it is one. */
export class Interrupted extends Error {
  resume: string | undefined;
  requestId: string | undefined;

  constructor(readonly signal: Signal) {
    super(`interrupted by ${signal}`);
  }
}

/**
 * The request exists, and this command could not see it to its end or fetch its result. Contract §1.5: that is exit
 * code 8 whatever the reason, since a script that sees another one would create the request again.
 */
export class UnfinishedError extends Error {
  /** `resume`: the command that goes on. */
  constructor(
    override readonly cause: ResearchError,
    readonly requestId: string,
    readonly resume: string | undefined,
  ) {
    super(cause.message, { cause });
  }

  /** `error` as an UnfinishedError, unless it says that the request has ended, or did not come from the service. */
  static unlessEnded(error: unknown, requestId: string, resume: string | undefined): unknown {
    const hasEnded = error instanceof ResearchError && /^RESEARCH_(?:FAILED|STOPPED)$/.test(error.code);
    return error instanceof ResearchError && !hasEnded
      ? new UnfinishedError(error, requestId, resume)
      : error;
  }
}

/** The reader of stdout has closed it. */
export class ClosedPipe extends Error {}

/** What a shell reports for a process that died of a signal. */
export const SIGNAL_EXIT_CODES: Record<Signal, number> = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 };

/** What ended a command, as `failureOf` has it of every other error. */
export function commandFailure(error: unknown): Failure {
  if (error instanceof Interrupted) {
    const { message, signal, requestId, resume } = error;
    const exit_code = SIGNAL_EXIT_CODES[signal];
    return { code: "INTERRUPTED", message, exit_code, request_id: requestId, hint: resume };
  }
  if (!(error instanceof UnfinishedError)) return failureOf(error);
  const { cause, requestId, resume } = error;
  const failure = failureOf(cause);
  const goOn = resume && `The request exists; go on with: ${resume}`;
  return {
    ...failure,
    exit_code: EXIT_CODES.NOT_FINISHED,
    request_id: requestId,
    message: failure.message.includes(requestId) ? failure.message : `${requestId}: ${failure.message}`,
    hint: [failure.hint, goOn].filter(Boolean).join(" ") || undefined,
  };
}

const ERRORS_FIRST = [3, 10, 8];

/**
 * The exit code of several ids, from theirs in the order given: the first error wins, then FAILED, then
 * STOPPED, then unfinished.
 */
export function worstOf(codes: readonly number[]): number {
  const error = codes.find((code) => code !== 0 && !ERRORS_FIRST.includes(code));
  return error ?? ERRORS_FIRST.find((code) => codes.includes(code)) ?? 0;
}

/** An error of settings that are not JSON, with the place. */
export async function withPlace(error: unknown): Promise<unknown> {
  if (!(error instanceof InvalidSettingsError) || error.text === undefined) return error;
  return new InvalidSettingsError(error.path, `not valid JSON (${await placeOfError(error.text)})`);
}

/** The exit code of a state, for `watch`, `run` and `status --exit-status`. */
export function exitCodeOf(status: Status): number {
  if (!isFinal(status)) return EXIT_CODES.NOT_FINISHED;
  return { COMPLETED: 0, FAILED: EXIT_CODES.RESEARCH_FAILED, STOPPED: EXIT_CODES.RESEARCH_STOPPED }[status];
}

/**
 * The exit code of a request that was followed. `created`: whether this command created it; then nothing that ends
 * the wait is an error (contract §1.5), since a script that sees one would create it again.
 */
export function exitCodeOfOutcome(outcome: WatchOutcome, { created = false } = {}): number {
  if (outcome.kind === "final") return exitCodeOf(outcome.status ?? "");
  if (outcome.kind === "given-up" && !created) return failureOf(outcome.error).exit_code;
  return EXIT_CODES.NOT_FINISHED;
}

/**
 * What signals mean while a command runs: the first one asks it to end and to say how to go on, a second one
 * ends it at once. A hang-up with no terminal on any stream is ignored: that is `nohup`.
 */
export class Interruption {
  readonly #controller = new AbortController();
  #received: Signal | undefined;
  #isHandled = false;
  #release: (() => void) | undefined;

  constructor(host: Host) {
    // Every exchange and every write that is under way listens: many, and no leak.
    setMaxListeners(0, this.#controller.signal);
    const hasTerminal = host.stdin.isTTY || host.stdout.isTTY || host.stderr.isTTY;
    this.#release = host.onSignal((signal) => {
      if (signal === "SIGHUP" && !hasTerminal) return;
      if (this.#received) return host.die(signal);
      this.#received = signal;
      this.#controller.abort(new Interrupted(signal));
    });
  }

  /** Aborted with an Interrupted when the first signal comes. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get received(): Signal | undefined {
    return this.#received;
  }

  /** The signal of which the process still has to die. */
  get unhandled(): Signal | undefined {
    return this.#isHandled ? undefined : this.#received;
  }

  /** The command ends in its usual way, so the process need not die of the signal. */
  markHandled(): void {
    this.#isHandled = true;
  }

  release(): void {
    this.#release?.();
    this.#release = undefined;
  }
}

/** Parses JSON, which remembers its text for `exactJson`; the UsageError names line and column of what is wrong. */
export async function parseJson(text: string, what: string): Promise<unknown> {
  try {
    return parseExact(text);
  } catch {
    throw new UsageError(`${what} is not JSON: ${await placeOfError(text)}`);
  }
}

/**
 * Where a text that is not JSON breaks off, and what was expected there: `line 2, column 7: Comma expected`. V8
 * names a place in some of its messages and on some versions only, and quotes the text.
 */
export async function placeOfError(text: string): Promise<string> {
  const { parse, printParseErrorCode } = await import("jsonc-parser");
  const errors: { error: number; offset: number; length: number }[] = [];
  parse(text, errors, { disallowComments: true, allowTrailingComma: false, allowEmptyContent: false });
  const first = errors[0];
  const before = text.slice(0, first?.offset ?? text.length);
  const line = before.split("\n").length;
  const column = before.length - before.lastIndexOf("\n");
  const reason = first ? printParseErrorCode(first.error) : "InvalidSymbol";
  return `line ${line}, column ${column}: ${reason.replace(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)}`;
}
