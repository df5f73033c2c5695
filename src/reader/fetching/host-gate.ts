import type { Clock } from "../../core/clock.js";
import { Semaphore } from "../../core/semaphore.js";

export interface HostPace {
  /** The most simultaneous requests to one host, and the least time between the starts of two, ms. */
  atOnce: number;
  apartMs: number;
}

const RESEARCH: HostPace = { atOnce: 2, apartMs: 1_000 };
/** The number of hosts above which the idle ones are removed. */
const KEPT_HOSTS = 1_000;

/** Limits and spaces the requests to each host, for all questions together. */
export class HostGate {
  readonly #hosts = new Map<string, { places: Semaphore; taken: number; next: number }>();
  constructor(
    private readonly clock: Clock,
    private readonly pace = RESEARCH,
  ) {}

  /**
   * Waits until a request to `host` may start. Returns the function to call when the request has ended. Rejects with
   * `signal.reason`. `isUnpaced`: does not wait for the time between two requests.
   */
  async enter(host: string, signal: AbortSignal, isUnpaced = false): Promise<() => void> {
    const gate = this.#getGate(host);
    gate.taken += 1;
    let release = () => {};
    const leave = () => {
      gate.taken -= 1;
      release();
    };
    try {
      release = await gate.places.acquire(signal);
      const now = this.clock.monotonic();
      const begin = isUnpaced ? now : Math.max(now, gate.next);
      gate.next = begin + this.pace.apartMs;
      if (begin > now) await this.clock.sleep(begin - now, signal);
      return leave;
    } catch (error) {
      leave();
      throw error;
    }
  }

  #getGate(host: string) {
    const existing = this.#hosts.get(host);
    if (existing) return existing;
    if (this.#hosts.size >= KEPT_HOSTS) this.#forgetIdle();
    const gate = { places: new Semaphore(this.pace.atOnce), taken: 0, next: Number.NEGATIVE_INFINITY };
    this.#hosts.set(host, gate);
    return gate;
  }

  #forgetIdle(): void {
    const now = this.clock.monotonic();
    for (const [host, { taken, next }] of this.#hosts)
      if (taken === 0 && next <= now) this.#hosts.delete(host);
  }
}
