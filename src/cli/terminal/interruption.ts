import { setMaxListeners } from "node:events";
import { Interrupted } from "../errors.js";
import type { Host, Signal } from "./host.js";

/**
 * What signals mean while a command runs: the first one asks it to end and to say how to go on, a second one
 * ends it at once. A hang-up with no terminal on any stream is none of our business: that is `nohup`.
 */
export class Interruption {
  readonly #controller = new AbortController();
  #received: Signal | undefined;
  #isMet = false;
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
  get unmet(): Signal | undefined {
    return this.#isMet ? undefined : this.#received;
  }

  /** The signal asked for nothing but the end that the command comes to by itself. */
  meet(): void {
    this.#isMet = true;
  }

  release(): void {
    this.#release?.();
    this.#release = undefined;
  }
}
