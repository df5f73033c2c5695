import type { Operation } from "../../../protocol/endpoints.js";
import type { InjectedFault } from "./fault.js";

/** Says which request is to go wrong, and how. Each fault counts the requests of its operation by itself. */
export class FaultPlan {
  readonly #counted: { fault: InjectedFault; seen: number }[];
  constructor(
    faults: readonly InjectedFault[],
    private readonly random: () => number,
  ) {
    this.#counted = faults.map((fault) => ({ fault, seen: 0 }));
  }

  /** The faults that may still befall a request, each with the number of requests that it has counted. */
  inForce(): readonly { fault: InjectedFault; seen: number }[] {
    return this.#counted.filter(({ fault: { how }, seen }) => {
      const last = "nth" in how ? how.nth : "first" in how ? how.first : Number.POSITIVE_INFINITY;
      return seen < last;
    });
  }

  /** What befalls the request that has just come in; the first fault that is due wins. */
  next(operation: Operation): InjectedFault["kind"] | undefined {
    const due = this.#counted.filter((entry) => {
      const { fault } = entry;
      if (fault.operation !== "any" && fault.operation !== operation) return false;
      entry.seen += 1;
      return isDue(fault.how, entry.seen, this.random);
    });
    return due[0]?.fault.kind;
  }
}

function isDue(how: InjectedFault["how"], seen: number, random: () => number): boolean {
  if ("nth" in how) return seen === how.nth;
  if ("first" in how) return seen <= how.first;
  return "p" in how ? random() < how.p : true;
}

/** Numbers in [0, 1) that are the same for the same seed (mulberry32); without one they differ each time. */
export function seeded(seed?: number): () => number {
  if (seed === undefined) return Math.random;
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
