import { describe, expect, test } from "vitest";
import type { Classification, Success } from "../../../../src/client/calls/classify-response.js";
import { RequestPacer } from "../../../../src/client/calls/request-pacer.js";
import { type WatchContext, watchRequests } from "../../../../src/client/calls/watch/watch-requests.js";
import type {
  WatchEvent,
  WatchOptions,
  WatchSource,
} from "../../../../src/client/calls/watch/watch-types.js";
import { fault, refused } from "./fixtures.js";
import { StepClock, WALL } from "./step-clock.js";

const MINUTE = 60_000;
const START = 1_000;
const data = (status: unknown, created_at?: string): Classification => ({
  kind: "data",
  waitMs: 0,
  data: { status, ...(created_at !== undefined && { created_at }) },
});

interface Poll {
  id: string;
  at: number;
  total: number;
  signal: AbortSignal;
  last: Success | undefined;
}

/** Answers the `nth` poll of an id: a state, or any answer. `at` is in milliseconds since the watch began. */
type Reply = (poll: { nth: number; at: number; id: string }) => Said | Promise<Said>;
type Said = string | Classification;

/** A watch whose polls are answered in this process (test/faults/watch.test.ts has sockets), with what it polled. */
function watching(
  source: WatchSource,
  reply: Reply,
  options: WatchOptions = {},
  clock = new StepClock(),
  pace = new RequestPacer(20),
) {
  const polls: Poll[] = [];
  const poll: WatchContext["poll"] = async (id, limits, last) => {
    const at = clock.time - START;
    polls.push({ id, at, last, ...limits });
    const answer = await reply({ nth: polls.filter((one) => one.id === id).length, at, id });
    return typeof answer === "string" ? data(answer) : answer;
  };
  return {
    polls,
    clock,
    events: watchRequests({ clock, random: () => 0.5, poll, pace }, source, options),
  };
}

async function all(...args: Parameters<typeof watching>) {
  const { events, ...rest } = watching(...args);
  const seen: WatchEvent[] = [];
  for await (const event of events) seen.push(event);
  return { ...rest, events: seen, kinds: seen.map(({ kind }) => kind) };
}
const times = ({ polls }: { polls: Poll[] }) => polls.map(({ at }) => at);
const states =
  (...list: string[]): Reply =>
  ({ nth }) =>
    list[nth - 1] ?? "COMPLETED";

describe("the states of an id", () => {
  test("are an event each time they change, with the answer and the time", async () => {
    const { events } = await all("a", states("PENDING", "PENDING", "PROCESSING"), { interval: 500 });
    const moment = (elapsedMs: number) => ({ at: WALL + START + elapsedMs, elapsedMs });
    const seen = { kind: "state", requestId: "a", final: false };
    expect(events).toEqual([
      { ...seen, status: "PENDING", previous: null, data: { status: "PENDING" }, ...moment(0) },
      {
        ...seen,
        status: "PROCESSING",
        previous: "PENDING",
        data: { status: "PROCESSING" },
        ...moment(1_000),
      },
      {
        ...{ ...seen, final: true, status: "COMPLETED", previous: "PROCESSING" },
        ...{ data: { status: "COMPLETED" }, ...moment(1_500) },
      },
    ]);
  });

  test("are texts, whatever the service says", async () => {
    const { events } = await all("a", ({ nth }) => (nth === 1 ? data(7) : "COMPLETED"), { interval: 1 });
    expect(events.map((event) => event.kind === "state" && event.status)).toEqual(["7", "COMPLETED"]);
  });

  test("nothing changed in five minutes is an event too", async () => {
    const reply: Reply = ({ at }) => (at < 11 * MINUTE ? "PENDING" : "COMPLETED");
    const { events } = await all("a", reply, { interval: MINUTE });
    expect(events.map(({ kind }) => kind)).toEqual(["state", "unchanged", "unchanged", "state"]);
    expect(events[2]).toEqual({ kind: "unchanged", elapsedMs: 10 * MINUTE });
  });
});

describe("the polls", () => {
  test("of an id without a deadline have none, and end with the watch", async () => {
    const { polls } = await all(["a"], states());
    expect(polls).toMatchObject([{ id: "a", at: 0, total: Number.POSITIVE_INFINITY }]);
    expect(polls[0]?.signal.aborted).toBe(true);
    expect(polls[0]?.signal.reason).toEqual(new Error("the watch is over"));
  });

  test("are told the last success of their id whose answer was kept, also after a failure", async () => {
    const answer = { kind: "answer", status: 200, headers: {}, body: Buffer.from("x") } as const;
    const [known, again, large] = [data("PENDING"), data("PENDING"), data("PROCESSING")];
    const replies = [
      { ...known, answer },
      fault("lost"),
      { ...known, answer, waitMs: 5 },
      { ...again, answer },
      large,
    ];
    const { polls } = await all("a", ({ nth }) => replies[nth - 1] ?? "COMPLETED", { interval: 1 });
    expect(polls.map(({ last }) => replies.indexOf(last as Success))).toEqual([-1, 0, 0, 0, 3, -1]);
  });

  test("end with the time of the id, the last ones two seconds after their beginning", async () => {
    const { polls } = await all("a", states(...Array(4).fill("PENDING")), {
      interval: 1_000,
      timeout: 4_000,
    });
    expect(polls.map(({ total }) => total)).toEqual([4_000, 3_000, 2_000, 2_000, 2_000]);
  });

  test("come at the interval of the age, which counts from created_at, once that is known", async () => {
    const asked: number[] = [];
    const pollInterval = (ageMs: number, random: number) => {
      asked.push(ageMs, random);
      return 2_000;
    };
    const created = new Date(WALL + START - MINUTE).toISOString();
    const later = new Date(WALL + START + 500).toISOString();
    const reply: Reply = ({ nth }) =>
      nth === 1 ? data("PENDING", created) : nth === 2 ? data("PENDING", later) : fault("lost");
    const recorded = { requestId: "a", recordedAt: 0 };
    const { polls } = await all([recorded], (poll) => (poll.nth === 4 ? "COMPLETED" : reply(poll)), {
      pollInterval,
    });
    expect(asked).toEqual([MINUTE, 0.5, MINUTE + 2_000, 0.5, MINUTE + 4_000, 0.5]);
    expect(times({ polls })).toEqual([0, 2_000, 4_000, 6_000]);
  });

  test("of several ids are 20 ms apart, and all at once at a fixed interval", async () => {
    expect(times(await all(["a", "b", "c"], states()))).toEqual([0, 20, 40]);
    expect(times(await all(["a", "b", "c"], states(), { interval: 5 }))).toEqual([0, 0, 0]);
  });

  test("come at a fixed interval, else at a learned one", async () => {
    const reply = states("PENDING", "PENDING");
    const pollInterval = () => 700;
    expect(times(await all("a", reply, { interval: 500, pollInterval }))).toEqual([0, 500, 1_000]);
    expect(times(await all("a", reply, { pollInterval }))).toEqual([0, 700, 1_400]);
  });

  test("of two hours are about 310, each wait a twentieth of the age within 1 to 30 s", async () => {
    const { polls, kinds } = await all("a", ({ at }) => (at < 120 * MINUTE ? "PROCESSING" : "COMPLETED"));
    const gaps = polls.slice(1).map(({ at }, i) => at - (polls[i]?.at ?? 0));
    expect(polls.length).toBeGreaterThan(300);
    expect(polls.length).toBeLessThan(325);
    expect([Math.min(...gaps), Math.max(...gaps)]).toEqual([1_000, 30_000]);
    // PROCESSING, then a word every five minutes, then the end.
    expect(kinds).toEqual(["state", ...Array(24).fill("unchanged"), "state"]);
  });

  test("of an old request are not those of a new one", async () => {
    const old = [{ requestId: "a", createdAt: WALL + START - 5 * MINUTE }];
    expect(times(await all(old, states("PENDING")))).toEqual([0, 15_000]);
  });

  test("of an id whose signal is aborted come no more, and the others do", async () => {
    const leaving = new AbortController();
    const source = [{ requestId: "a", signal: leaving.signal }, { requestId: "b" }];
    const reply: Reply = ({ at, id }) => {
      if (at > MINUTE) leaving.abort();
      return at < 5 * MINUTE || id === "a" ? "PROCESSING" : "COMPLETED";
    };
    const { polls, events } = await all(source, reply);
    // One of its polls may be the one that aborts it.
    expect(polls.filter(({ id, at }) => id === "a" && at > MINUTE).length).toBeLessThanOrEqual(1);
    expect(events.at(-1)).toMatchObject({ kind: "state", requestId: "b", final: true });
  });

  test("after a suspend come at once", async () => {
    const clock = new StepClock();
    clock.suspendIn = 10_000;
    const polled = await all("a", states("PENDING", "PENDING"), { interval: 10_000 }, clock);
    expect(times(polled)).toEqual([0, 5_000, 15_000]);
  });
});

describe("failing polls", () => {
  const recorded = (...ids: string[]) => ids.map((requestId) => ({ requestId, recordedAt: 0 }));

  test("are one trouble of all ids and one recovery", async () => {
    const reply: Reply = ({ nth, at, id }) => {
      if (nth === 1) return "PENDING";
      if (at <= (id === "a" ? 2_500 : 7_500)) return fault("lost");
      return at > 10_000 ? "COMPLETED" : "PENDING";
    };
    const { events, kinds } = await all(recorded("a", "b"), reply, { interval: 2_500 });
    expect(kinds).toEqual(["state", "state", "trouble", "recovered", "state", "state"]);
    expect(events[2]).toMatchObject({ kind: "trouble", requestId: "a", error: { message: "lost" } });
    expect(events[3]).toEqual({ kind: "recovered", elapsedMs: 10_000 });
  });

  test("end an id that is given up, which fails no more", async () => {
    const reply: Reply = ({ nth, id }) => {
      if (nth === 1) return "PENDING";
      if (nth === 2) return fault("lost");
      if (id === "b") return nth < 4 ? fault("lost") : "COMPLETED";
      return refused("unauthenticated");
    };
    const { events, kinds } = await all(recorded("a", "b"), reply, { interval: 1_000 });
    expect(kinds).toEqual(["state", "state", "trouble", "given-up", "recovered", "state"]);
    expect(events[3]).toMatchObject({
      ...{ kind: "given-up", requestId: "a", status: "PENDING", elapsedMs: 2_000, at: WALL + START + 2_000 },
      error: { message: "no" },
    });
  });

  test("of one id are not those of another one that is dropped", async () => {
    const reply: Reply = ({ nth, id }) => {
      if (id === "a") return nth < 3 ? "PENDING" : refused("unauthenticated");
      if (nth === 1) return "PROCESSING";
      return nth < 5 ? fault("lost") : "COMPLETED";
    };
    const { kinds } = await all(recorded("a", "b"), reply, { interval: 1_000 });
    expect(kinds).toEqual(["state", "state", "trouble", "given-up", "recovered", "state"]);
  });

  test("end the watch at the first one if it is final", async () => {
    const { events } = await all("a", () => refused("not-found"));
    expect(events).toMatchObject([{ kind: "given-up", requestId: "a", status: null }]);
  });

  test.each([
    [true, ["trouble", "recovered", "state"]],
    [false, ["given-up"]],
    [undefined, ["given-up"]],
  ])("of a name that does not exist, the service having answered: %j", async (answered, kinds) => {
    const reply: Reply = ({ nth }) => (nth === 1 ? fault("unconnectable") : "COMPLETED");
    const watched = await all(recorded("a"), reply, answered === undefined ? {} : { answered });
    expect(watched.kinds).toEqual(kinds);
  });

  test("after an answer are those of a service that has answered", async () => {
    const reply: Reply = ({ nth }) => (nth === 2 ? fault("redirected") : nth === 1 ? "PENDING" : "COMPLETED");
    expect((await all("a", reply)).kinds).toEqual(["state", "trouble", "recovered", "state"]);
  });

  test.each([
    [undefined, 10 * MINUTE],
    [30_000, 30_000],
  ])("end an id when patience (%s ms) is over", async (patience, end) => {
    const options = { interval: 6_000, ...(patience !== undefined && { patience }) };
    const reply: Reply = ({ nth }) => (nth === 1 ? "PENDING" : fault("lost"));
    const { events } = await all("a", reply, options);
    expect(events.at(-1)).toMatchObject({ kind: "given-up", elapsedMs: end });
  });

  test("wait as long as the service asks, and patience with them", async () => {
    const reply: Reply = ({ nth }) =>
      nth === 1 ? "PENDING" : nth === 2 ? fault("unavailable", 90) : fault("lost");
    const { events, polls } = await all("a", reply, { interval: 10_000, patience: 30_000 });
    expect(events[2]).toMatchObject({
      ...{ kind: "asked-to-wait", requestId: "a", waitMs: 90_000, error: { message: "unavailable" } },
    });
    expect(times({ polls })).toEqual([0, 10_000, 100_000, 110_000, 120_000]);
    expect(events.at(-1)).toMatchObject({ kind: "given-up", elapsedMs: 120_000 });
  });

  test("say nothing of a wait that was not asked for", async () => {
    const reply: Reply = ({ nth }) => (nth === 1 ? fault("lost") : "COMPLETED");
    expect((await all(recorded("a"), reply)).kinds).toEqual(["trouble", "recovered", "state"]);
  });

  test("of the past do not count for what comes after a success", async () => {
    const reply: Reply = ({ nth }) => (nth % 4 === 0 ? "PENDING" : nth < 20 ? fault("lost") : "COMPLETED");
    const { kinds } = await all("a", reply, { interval: 10_000, patience: 45_000, answered: true });
    expect(kinds).not.toContain("given-up");
  });
});

describe("the time of an id", () => {
  test("ends with a last poll and an event", async () => {
    const { events, polls } = await all("a", () => "PROCESSING", { interval: 2_000, timeout: 5_000 });
    expect(times({ polls })).toEqual([0, 2_000, 4_000, 5_000]);
    expect(events.at(-1)).toEqual({
      ...{ kind: "timeout", requestId: "a", status: "PROCESSING" },
      ...{ at: WALL + START + 5_000, elapsedMs: 5_000 },
    });
  });

  test("ends without a poll during a wait that the service asked for", async () => {
    const reply: Reply = ({ nth }) => (nth === 1 ? "PENDING" : fault("unavailable", 90));
    const { polls, events } = await all("a", reply, { interval: 1_000, timeout: 5_000 });
    expect(times({ polls })).toEqual([0, 1_000]);
    expect(events.at(-1)).toMatchObject({ kind: "timeout", elapsedMs: 5_000 });
  });

  test("ends for many with last polls that keep to 50 a second", async () => {
    const ids = Array.from({ length: 67 }, (_, i) => `id-${i}`);
    const { polls, kinds } = await all(ids, () => "PROCESSING", { timeout: 15_000 });
    const gaps = polls.slice(1).map(({ at }, i) => at - (polls[i]?.at ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(20);
    const last = polls.filter(({ at }) => at >= 15_000 - ids.length * 20);
    expect(last.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
    expect(polls.at(-1)?.at).toBe(15_000);
    expect(kinds.filter((kind) => kind === "timeout")).toHaveLength(ids.length);
  });

  test.each([
    [6_500, [0, 6_500]],
    [8_000, [0]],
  ])("ends without a last poll that those of others keep from starting until %i", async (free, expected) => {
    const pace = new RequestPacer(20);
    const reply: Reply = () => {
      pace.startPoll(START + free - 20);
      return "PENDING";
    };
    const { polls, events } = await all("a", reply, { timeout: 5_000 }, new StepClock(), pace);
    expect(times({ polls })).toEqual(expected);
    expect(events.at(-1)).toMatchObject({ kind: "timeout", elapsedMs: free, status: "PENDING" });
  });

  test("that a poll outlasts is over when the poll has failed", async () => {
    const clock = new StepClock();
    const reply: Reply = ({ nth }) => {
      if (nth === 1) return "PENDING";
      clock.time += 10_000;
      return fault("lost");
    };
    const { kinds, polls } = await all("a", reply, { interval: 1_000, timeout: 5_000 }, clock);
    expect(times({ polls })).toEqual([0, 1_000]);
    expect(kinds).toEqual(["state", "trouble", "timeout"]);
  });

  test("begins when it is added", async () => {
    const clock = new StepClock();
    async function* source() {
      yield "a";
      await clock.sleep(3_000);
      yield "b";
    }
    const { events } = await all(source(), () => "PROCESSING", { interval: 1_000, timeout: 5_000 }, clock);
    const ends = events.flatMap((event) => (event.kind === "timeout" ? [event.elapsedMs] : []));
    expect(ends).toEqual([5_000, 8_000]);
  });
});

describe("the watch", () => {
  test("of nothing ends at once", async () => {
    expect((await all([], states())).events).toEqual([]);
  });

  test("ends with its source and the last id of it", async () => {
    async function* source() {
      yield "a";
      await new Promise((resolve) => setImmediate(resolve));
      yield { requestId: "b" };
    }
    const { events } = await all(source(), states("PENDING"), { interval: 10 });
    expect(events.flatMap((event) => (event.kind === "state" && event.final ? event.requestId : []))).toEqual(
      ["a", "b"],
    );
  });

  test("throws what its source throws", async () => {
    const error = new Error("source");
    const source = { [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(error) }) };
    await expect(all(source, states())).rejects.toBe(error);
  });

  test("throws a defect of a poll", async () => {
    const error = new Error("defect");
    await expect(all("a", () => Promise.reject(error))).rejects.toBe(error);
  });

  test.each(["before", "during"])("throws the reason of a signal that is aborted %s it", async (when) => {
    const [control, error] = [new AbortController(), new Error("enough")];
    if (when === "before") control.abort(error);
    const { events, polls } = watching(["a"], states("PENDING", "PENDING"), { signal: control.signal });
    const read = async () => {
      for await (const _ of events) control.abort(error);
    };
    await expect(read()).rejects.toBe(error);
    expect(polls).toHaveLength(when === "before" ? 0 : 1);
  });

  test("that its caller leaves aborts its polls and its sleep", async () => {
    const { events, polls } = watching(
      ["a", "b"],
      ({ id }) => (id === "a" ? "PENDING" : new Promise(() => {})),
      {
        interval: MINUTE,
      },
    );
    for await (const _ of events) break;
    expect(polls.map(({ signal }) => signal.aborted)).toEqual([true, true]);
  });

  test("yields what happens while its caller deals with an event", async () => {
    let answer: ((said: string) => void) | undefined;
    const reply: Reply = ({ id }) =>
      id === "a"
        ? "COMPLETED"
        : new Promise((resolve) => {
            answer = resolve;
          });
    const seen: string[] = [];
    for await (const event of watching(["a", "b"], reply, { interval: 1 }).events) {
      if (event.kind === "state") seen.push(event.requestId);
      answer?.("COMPLETED");
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(seen).toEqual(["a", "b"]);
  });
});
