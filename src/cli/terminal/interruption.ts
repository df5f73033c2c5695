import type { Host, Signal } from "./host.js";

/** A signal came. `resume` says how to go on where this command ended, `requestId` names its request if it is one. */
export class Interrupted extends Error {
  resume: string | undefined;
  requestId: string | undefined;

  constructor(readonly signal: Signal) {
    super(`interrupted by ${signal}`);
  }
}

/**
 * What signals mean while a command runs: the first one asks it to end and to say how to go on, a second one
 * ends it at once. A hang-up with no terminal on any stream is ignored: that is `nohup`.
 */
export class Interruption {
  readonly #controller = new AbortController();
  readonly signal = this.#controller.signal;
  /** Hears no more signals. */
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

  /** The signal of which the process still has to die. */
  get unhandled(): Signal | undefined {
    return this.#isHandled ? undefined : this.#received;
  }

  /** The command ends in its usual way, so the process need not die of the signal. */
  markHandled(): void {
    this.#isHandled = true;
  }
}
