import type { Operation } from "../../../core/protocol/conversation.js";

/** Injected faults that are not an HTTP status. */
export const FAULT_KINDS = [
  "reset",
  "reset-after-body",
  "hang",
  "drip",
  "truncate",
  "html",
  "bad-envelope",
  "huge",
  "redirect",
] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

/** Which requests the fault applies to: all, the n-th, the first n, or each with probability p. */
export type FaultTrigger = { each: true } | { nth: number } | { first: number } | { p: number };

/** A fault that the service injects, for tests of clients. */
export interface InjectedFault {
  /** The specification as the user wrote it. */
  text: string;
  operation: Operation | "any";
  kind: FaultKind | { status: number; retryAfter?: string };
  how: FaultTrigger;
}

const OPERATIONS: readonly string[] = ["create", "status", "stop", "output", "any"];

/** Parses `OPERATION:KIND[:HOW]`, as in `status:503+retry-after=2:first=2`. Throws an Error with a clear sentence. */
export function parseFault(text: string): InjectedFault {
  const [operation = "", kind = "", how, ...rest] = text.split(":");
  const fail = (what: string): never => {
    throw new Error(
      `The fault "${text}" ${what}. It is written OPERATION:KIND[:HOW], for example status:503:first=2.`,
    );
  };
  if (rest.length > 0) fail("has more than three parts");
  if (!OPERATIONS.includes(operation)) fail(`begins with none of ${OPERATIONS.join(", ")}`);
  return {
    text,
    operation: operation as InjectedFault["operation"],
    kind:
      parseKind(kind) ??
      fail(`has no kind that is known (an HTTP status from 200 to 599, ${FAULT_KINDS.join(", ")})`),
    how:
      parseTrigger(how) ?? fail("does not say when with nth=N, first=N (from 1) or p=X (above 0, at most 1)"),
  };
}

function parseKind(text: string): InjectedFault["kind"] | undefined {
  const status = /^([2-5]\d\d)(?:\+retry-after=([\x20-\x7e]+))?$/.exec(text);
  if (status)
    return { status: Number(status[1]), ...(status[2] === undefined ? {} : { retryAfter: status[2] }) };
  return FAULT_KINDS.find((kind) => kind === text);
}

function parseTrigger(text: string | undefined): FaultTrigger | undefined {
  if (text === undefined) return { each: true };
  const [, name, value] = /^(nth|first|p)=(\d+|\d*\.\d+)$/.exec(text) ?? [];
  const number = Number(value);
  if (name === "p") return number > 0 && number <= 1 ? { p: number } : undefined;
  if (!Number.isSafeInteger(number) || number < 1) return undefined;
  return name === "nth" ? { nth: number } : { first: number };
}

/** Chooses the fault for each request. Each fault counts the requests of its operation separately. */
export class FaultPlan {
  readonly #counted: { fault: InjectedFault; seen: number }[];
  constructor(
    faults: readonly InjectedFault[],
    private readonly random: () => number,
  ) {
    this.#counted = faults.map((fault) => ({ fault, seen: 0 }));
  }

  /** The faults that may still apply, each with the number of requests it has counted. */
  listInForce(): readonly { fault: InjectedFault; seen: number }[] {
    return this.#counted.filter(({ fault: { how }, seen }) => {
      const last = "nth" in how ? how.nth : "first" in how ? how.first : Number.POSITIVE_INFINITY;
      return seen < last;
    });
  }

  /** Returns the fault for a new request; if several are due, the first one. */
  takeNext(operation: Operation): InjectedFault["kind"] | undefined {
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

/** Generates numbers in [0, 1), reproducible for a seed (mulberry32); without one they differ each time. */
export function createSeededRandom(seed?: number): () => number {
  if (seed === undefined) return Math.random;
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
