import { expect, it } from "vitest";
import { JsonText } from "../../../src/core/json/exact-json.js";
import { type Researcher, ResearchFailure, type ResearchJob } from "../../../src/core/researcher.js";
import {
  type Claim,
  ConversationStopped,
  type Outcome,
  ServiceClosing,
} from "../../../src/server/conversations/conversation-store.js";
import { MAX_STARTS, Scheduler, type SchedulerOptions } from "../../../src/server/conversations/scheduler.js";
import { until } from "../../support/service.js";
import { VirtualClock } from "../../support/virtual-clock.js";

type Store = SchedulerOptions["store"];
type Given = Partial<Omit<SchedulerOptions, "store" | "researcher">> & {
  claims: Claim[];
  research: Researcher["research"];
  store?: Partial<Store>;
  takesMisfits?: boolean;
};

const job = (request_id: string, more: Partial<ResearchJob> = {}): ResearchJob => ({
  ...{ request_id, prompt: "why?", structured_output: false },
  ...more,
});
const claimOf = (request_id: string, more: Partial<Claim & { job: ResearchJob }> = {}): Claim => ({
  ...{ job: job(request_id), starts: 1, signal: new AbortController().signal },
  ...more,
});

/** Never settles but by its signal. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason));
  });
}

/** A scheduler that is given these claims, one after the other, and writes down what it does and when. */
function scheduled({ claims, research, store, takesMisfits = false, ...more }: Given) {
  const clock = new VirtualClock();
  const start = clock.monotonic();
  const [done, said]: [unknown[], unknown[]] = [[], []];
  const note = (...what: unknown[]) => void done.push([clock.monotonic() - start, ...what]);
  const waiting = [...claims];
  const scheduler = new Scheduler({
    ...{ workers: 2, processingMs: 0, clock, ended: (status, ms) => note("ended", status, ms) },
    researcher: { research, takesMisfits, close: async () => {} },
    log: (...line) => void said.push(line),
    store: {
      claim: async (signal) => waiting.shift() ?? aborted(signal),
      tell: async (claim, progress) => note("tell", claim.job.request_id, JSON.parse(progress).done),
      end: async (claim, outcome) => {
        note("end", claim.job.request_id, outcome);
        return true;
      },
      returnClaim: async (claim) => note("give back", claim.job.request_id),
      ...store,
    },
    ...more,
  });
  scheduler.start();
  scheduler.start();
  const doneUntil = (count: number) => until(async () => done.length >= count || undefined);
  return { scheduler, clock, done, said, doneUntil };
}

const answered: Outcome = { status: "COMPLETED", output: '"it is so"' };

it("has each conversation researched once and writes its end, after its least time", async () => {
  const { scheduler, done, said, doneUntil } = scheduled({
    claims: [claimOf("a")],
    research: async () => "it is so",
    processingMs: 700,
  });
  await doneUntil(2);
  await scheduler.close();
  expect(done).toEqual([
    [700, "end", "a", answered],
    [700, "ended", "COMPLETED", 700],
  ]);
  expect(said).toEqual([]);
});

it("what another worker has ended meanwhile is not counted", async () => {
  const { scheduler, done, doneUntil } = scheduled({
    claims: [claimOf("a"), claimOf("b")],
    research: async () => "it is so",
    store: { end: async (claim) => done.push(claim.job.request_id) > 1 },
  });
  await doneUntil(3);
  await scheduler.close();
  expect(done).toEqual(["a", "b", [0, "ended", "COMPLETED", 0]]);
});

it.each<[string, Researcher["research"], Outcome, RegExp | undefined]>([
  [
    "a failure is its reason",
    async () => Promise.reject(new ResearchFailure("none found")),
    failed("none found"),
    undefined,
  ],
  [
    "a defect is said to operators only",
    async () => Promise.reject(new TypeError("secret")),
    failed("The researcher failed unexpectedly."),
    /^defect: secret$/,
  ],
  [
    "a JSON value is written",
    async () => ({ a: [1] }),
    { status: "COMPLETED", output: '{"a":[1]}' },
    undefined,
  ],
  [
    "its own text is passed on",
    async () => new JsonText("1.0"),
    { status: "COMPLETED", output: "1.0" },
    undefined,
  ],
])("of a research %s", async (_, research, outcome, log) => {
  const { scheduler, done, said, doneUntil } = scheduled({ claims: [claimOf("a")], research });
  await doneUntil(2);
  await scheduler.close();
  expect(done[0]).toEqual([0, "end", "a", outcome]);
  expect(said).toEqual(
    log ? [[expect.stringMatching(log), { request_id: "a", stack: expect.any(String) }]] : [],
  );
});

function failed(reason: string): Outcome {
  return { status: "FAILED", reason };
}

it.each([
  [
    false,
    {
      status: "FAILED",
      reason: expect.stringMatching(/^The result does not fit the output_schema: at the top level/),
    },
  ],
  [true, { status: "COMPLETED", output: '"x"' }],
])(
  "a result that does not fit the schema is a failure, but where it was paid for (%j)",
  async (takesMisfits, outcome) => {
    const schema = { output_schema: { type: "number" } };
    const { scheduler, done, doneUntil } = scheduled({
      claims: [claimOf("a", { job: job("a", schema) }), claimOf("b", { job: job("b", schema) })],
      research: async ({ request_id }) => (request_id === "a" ? "x" : 1),
      takesMisfits,
      workers: 1,
    });
    await doneUntil(4);
    await scheduler.close();
    expect(done[0]).toEqual([0, "end", "a", outcome]);
    expect(done[2]).toEqual([0, "end", "b", { status: "COMPLETED", output: "1" }]);
  },
);

it("what ended its worker each time is begun five times, and then it has failed", async () => {
  const begun: string[] = [];
  const { scheduler, done, doneUntil } = scheduled({
    claims: [claimOf("a", { starts: MAX_STARTS }), claimOf("b", { starts: MAX_STARTS + 1 })],
    research: async ({ request_id }) => begun.push(request_id),
    workers: 1,
  });
  await doneUntil(4);
  await scheduler.close();
  expect(begun).toEqual(["a"]);
  const reason = "The research was begun 5 times, and the service was lost each time before it ended.";
  expect(done[2]).toEqual([0, "end", "b", failed(reason)]);
});

it("an end is tried until it is written, and said once", async () => {
  let tries = 0;
  const { scheduler, done, said, doneUntil } = scheduled({
    claims: [claimOf("a")],
    research: async () => "it is so",
    store: {
      end: async () => {
        if (++tries < 3) throw new Error("disk full");
        return true;
      },
    },
  });
  await doneUntil(1);
  await scheduler.close();
  expect(done).toEqual([[10_000, "ended", "COMPLETED", 10_000]]);
  expect(said).toEqual([
    ["writes of the end of a fail: disk full", { request_id: "a" }],
    ["writes of the end of a work again", { level: "info" }],
  ]);
});

it("a store that cannot be asked for work is asked again every 5 s, and said once", async () => {
  let tries = 0;
  const asked: number[] = [];
  const { scheduler, clock, said } = scheduled({
    claims: [],
    workers: 1,
    research: async () => "it is so",
    store: {
      claim: async (signal) => {
        asked.push(clock.monotonic());
        if (++tries < 3) throw new Error("away");
        return tries === 3 ? claimOf("a") : aborted(signal);
      },
    },
  });
  await until(async () => asked.length >= 4 || undefined);
  await scheduler.close();
  const [first = 0] = asked;
  expect(asked.map((at) => at - first)).toEqual([0, 5_000, 10_000, 10_000]);
  expect(said).toEqual([
    ["claims of work fail: away", undefined],
    ["claims of work work again", { level: "info" }],
  ]);
});

/** Never ends but by its signal; `begun` holds the signals. */
function endless() {
  const begun: AbortSignal[] = [];
  const research: Researcher["research"] = (_, signal) => {
    begun.push(signal);
    return aborted(signal);
  };
  return { begun, research };
}

it("a stop ends the work with its reason, and the place is free for the next", async () => {
  const { begun, research } = endless();
  const [stopped, gone] = [new AbortController(), AbortSignal.abort(new ConversationStopped("before"))];
  const { scheduler, done, said } = scheduled({
    claims: [claimOf("a", { signal: stopped.signal }), claimOf("b", { signal: gone }), claimOf("c")],
    research,
    workers: 1,
    store: { returnClaim: async (claim) => void done.push(claim.job.request_id) },
  });
  await until(async () => begun[0]);
  stopped.abort(new ConversationStopped("now"));
  await until(async () => begun[2]);
  expect(begun.map(({ reason }) => reason?.message)).toEqual(["now", "before", undefined]);
  expect(done).toEqual(["a", "b"]);
  await scheduler.close();
  expect(said).toEqual([]);
});

it("a service that closes gives all its work back, claims nothing more, and ends when nothing runs", async () => {
  const { begun, research } = endless();
  const { scheduler, done, said } = scheduled({
    claims: [claimOf("a"), claimOf("b"), claimOf("c")],
    research,
    store: {
      returnClaim: async ({ job: { request_id } }) => {
        done.push(request_id);
        if (request_id === "b") throw new Error("away");
      },
    },
  });
  await until(async () => begun[1]);
  await scheduler.close();
  expect(begun.map(({ reason }) => reason instanceof ServiceClosing)).toEqual([true, true]);
  expect(done).toEqual(["a", "b"]);
  expect(said).toEqual([["a claim could not be returned: away"]]);
});

it("how far a research is, the newest once a second; what else it tells stands beside its end", async () => {
  const progress = (done: number) => ({ step: "read", done, of: 9, pages: 0, calls: 0, tokens: 0 }) as const;
  const { scheduler, clock, done, said, doneUntil } = scheduled({
    claims: [claimOf("a")],
    research: async (_job, _signal, tell = () => {}) => {
      tell({ progress: progress(1), usage: { calls: 1, input_tokens: 2, output_tokens: 3 } });
      tell({ progress: progress(2) });
      tell({ progress: progress(3), extra: true });
      await clock.sleep(2_500);
      tell({ progress: progress(4) });
      tell({ progress: progress(5) });
      return "it is so";
    },
  });
  await doneUntil(5);
  await scheduler.close();
  expect(done).toEqual([
    [0, "tell", "a", 1],
    [1_000, "tell", "a", 3],
    [2_500, "tell", "a", 4],
    [
      2_500,
      "end",
      "a",
      { ...answered, data: '{"usage":{"calls":1,"input_tokens":2,"output_tokens":3},"extra":true}' },
    ],
    [2_500, "ended", "COMPLETED", 2_500],
  ]);
  expect(said[0]).toEqual(["reading 1 of 9", { level: "info", request_id: "a", progress: progress(1) }]);
});

it("a store that cannot be told how far a research is costs the research nothing", async () => {
  const { scheduler, clock, done, doneUntil } = scheduled({
    claims: [claimOf("a")],
    research: async (_job, _signal, tell = () => {}) => {
      for (const step of ["plan", "write"] as const) {
        tell({ progress: { step, done: 0, of: 0, pages: 0, calls: 0, tokens: 0 } });
        await clock.sleep(1_500);
      }
      return "it is so";
    },
    store: { tell: async () => Promise.reject(new Error("away")) },
  });
  await doneUntil(2);
  await scheduler.close();
  expect(done[0]).toEqual([3_000, "end", "a", answered]);
});
