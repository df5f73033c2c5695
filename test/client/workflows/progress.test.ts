import { expect, test } from "vitest";
import { RefusedError, UnreachableError } from "../../../src/client/calls/errors.js";
import type { WatchOptions } from "../../../src/client/calls/watch/watch-types.js";
import type { HistoryEntry } from "../../../src/client/store/history/history-records.js";
import type { Account } from "../../../src/client/workflows/account.js";
import {
  type FollowEvent,
  followRequests,
  WatchProgress,
} from "../../../src/client/workflows/follow-requests.js";

const error = new UnreachableError("UNREACHABLE", "m");
const moment = { at: 0, elapsedMs: 0 };
const state = (requestId: string, status: string): FollowEvent => ({
  ...{ kind: "state", requestId, status, previous: null, final: false, data: {}, ...moment },
});

test.each<[string, FollowEvent, object]>([
  ["a state", state("b", "PROCESSING"), { status: "PROCESSING", kind: "running" }],
  ["COMPLETED", state("b", "COMPLETED"), { status: "COMPLETED", kind: "final" }],
  ["FAILED", state("b", "FAILED"), { status: "FAILED", kind: "final" }],
  ["STOPPED", state("b", "STOPPED"), { status: "STOPPED", kind: "final" }],
  [
    "given up",
    { kind: "given-up", requestId: "b", status: "PENDING", error, ...moment },
    { status: "PENDING", kind: "given-up", error },
  ],
  [
    "out of time",
    { kind: "timeout", requestId: "b", status: null, ...moment },
    { status: null, kind: "timeout" },
  ],
  ["trouble", { kind: "trouble", requestId: "b", error }, { status: null, kind: "running" }],
  ["nothing new", { kind: "unchanged", elapsedMs: 1 }, { status: null, kind: "running" }],
])("%s changes its request and no other", (_, event, outcome) => {
  const progress = new WatchProgress(["a", "b", "c"]);
  progress.apply(event);
  const running = { status: null, kind: "running" };
  expect(progress.outcomes).toEqual([
    { requestId: "a", ...running },
    { requestId: "b", ...outcome },
    { requestId: "c", ...running },
  ]);
});

test("what is followed is what has no end yet", () => {
  const progress = new WatchProgress(["a", "b"]);
  progress.apply(state("a", "COMPLETED"));
  progress.apply(state("b", "PROCESSING"));
  expect(progress.running.map(({ requestId }) => requestId)).toEqual(["b"]);
});

test.each<[string, number[] | undefined, boolean]>([
  ["without a history", undefined, false],
  ["with too few finished runs", Array(29).fill(60_000), false],
  ["by the finished runs of the origin", Array(30).fill(60_000), true],
])("requests are followed %s, and what is given up names its account", async (_, runs, isLearned) => {
  const given: WatchOptions[] = [];
  const gone = new RefusedError("not-found", true, "X", "not found");
  const events: FollowEvent[] = [
    state("id", "PROCESSING"),
    { kind: "trouble", requestId: "id", error },
    { kind: "given-up", requestId: "id", status: null, error: gone, ...moment },
  ];
  const client = {
    async *watch(_targets: unknown, options: WatchOptions) {
      given.push(options);
      yield* events;
    },
  };
  const listDurations = (...asked: unknown[]) => (asked.join() === "o,200" ? runs : []);
  const history = runs && { listDurations, observe: () => {} };
  const account = { client, history, origin: "o", profile: "p" } as unknown as Account;
  const entry = { origin: "o", profile: "q" } as HistoryEntry;
  const seen: FollowEvent[] = [];
  for await (const event of followRequests([{ requestId: "id", entry, account }])) seen.push(event);
  const message = "not found: id was created at o with profile q; add --profile q";
  expect(seen).toStrictEqual([
    ...events.slice(0, 2),
    { ...events[2], error: expect.objectContaining({ message }) },
  ]);
  expect(given.map((options) => "pollInterval" in options)).toEqual([isLearned]);
});
