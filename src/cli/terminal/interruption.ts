import type { Host, Signal } from "./host.js";

/** The reason with which a command is aborted after a signal such as SIGINT. `resume`: how to continue. `requestId`: set if the command is about one request. */
export class Interrupted extends Error {
  resume: string | undefined;
  requestId: string | undefined;

  constructor(readonly signal: Signal) {
    super(`interrupted by ${signal}`);
  }
}

/**
 * Handles signals while a command runs. The first signal aborts the command, which then prints how to continue; the second
 * ends the process at once. Ignores SIGHUP if no stream is a terminal (`nohup`).
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

  /** The signal that must end the process; undefined without one, or if the command has handled it. */
  get unhandled(): Signal | undefined {
    return this.#isHandled ? undefined : this.#received;
  }

  /** Notes that the command ends in its usual way, so that the process does not end by the signal. */
  markHandled(): void {
    this.#isHandled = true;
  }
}
