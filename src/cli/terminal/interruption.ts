import type { Host, Signal } from "./host.js";

/** A signal interrupted the command. `resume` says how to continue; `requestId` is set if it is about one request. */
export class Interrupted extends Error {
  resume: string | undefined;
  requestId: string | undefined;

  constructor(readonly signal: Signal) {
    super(`interrupted by ${signal}`);
  }
}

/**
 * Handles signals while a command runs: the first one asks it to end and to print how to continue, a second one
 * ends it at once. Ignores SIGHUP if no stream is a terminal (`nohup`).
 */
export class Interruption {
  readonly #controller = new AbortController();
  readonly signal = this.#controller.signal;
  /** Stops listening for signals. */
  readonly release: () => void;
  #received: Signal | undefined;
  #isHandled = false;

  constructor(host: Host) {
    const hasTerminal = host.stdin.isTTY || host.stdout.isTTY || host.stderr.isTTY;
    this.release = host.onSignal((signal) => {
      if (signal === "SIGHUP" && !hasTerminal) return;
      if (this.#received) return host.die(signal);
      this.#received = signal;
      this.#controller.abort(new Interrupted(signal));
    });
  }

  get received(): Signal | undefined {
    return this.#received;
  }

  /** The signal by which the process must end. */
  get unhandled(): Signal | undefined {
    return this.#isHandled ? undefined : this.#received;
  }

  /** The command ends in its usual way, so the process need not die of the signal. */
  markHandled(): void {
    this.#isHandled = true;
  }
}
