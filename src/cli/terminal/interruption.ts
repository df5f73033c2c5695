import { setMaxListeners } from "node:events";
import { Interrupted } from "../errors.js";
import type { Host, Signal } from "./host.js";

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
