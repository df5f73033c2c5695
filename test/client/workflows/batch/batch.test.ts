import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { ResearchClient } from "../../../../src/client/calls/client.js";
import { digestOf } from "../../../../src/client/store/history/create-names.js";
import { History } from "../../../../src/client/store/history/history.js";
import { Batch } from "../../../../src/client/workflows/batch/batch.js";
import type { BatchRunEvent, BatchRunOptions } from "../../../../src/client/workflows/batch/context.js";
import { CreatePacer } from "../../../../src/client/workflows/batch/create-pacer.js";
import { OutputFolder } from "../../../../src/client/workflows/batch/output-folder.js";
import { planRows } from "../../../../src/client/workflows/batch/plan.js";
import { type Row, rowId } from "../../../../src/client/workflows/batch/row.js";
import type { Ports } from "../../../../src/client/workflows/ports.js";
import { html, only, refuse } from "../../../support/behaviours.js";
import { folderWith } from "../../../support/folder.js";
import { type HappyOptions, HappyService, KEY } from "../../../support/happy-service.js";
import { until } from "../../../support/service.js";
import { VirtualClock } from "../../../support/virtual-clock.js";

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** A batch without a terminal: a service, a history and an output folder. */
async function world(options: HappyOptions = {}) {
  const service = await HappyService.start(options);
  const clock = new VirtualClock();
  const client = new ResearchClient({ baseUrl: service.url, apiKey: KEY, clock, random: () => 0.5 });
  closing.push(async () => {
    await client.close();
    await service.server.close();
  });
  const history = new History(folderWith(), () => clock.now());
  const ports: Ports = {
    ...{ client, history, clock, apiKey: KEY, origin: new URL(service.url).origin, profile: null },
    ...{ unrecorded: false, outputField: "output" },
  };
  return { service, ports, clock, out: join(folderWith(), "out") };
}

function rowsOf(...prompts: string[]): Row[] {
  return prompts.map((prompt, index) => {
    const body = { prompt };
    const digest = digestOf(body);
    return { id: rowId(`k${index}`, digest, 1), key: `k${index}`, line: index + 1, body, digest };
  });
}

type World = Awaited<ReturnType<typeof world>>;

async function run(
  { ports, clock, out }: World,
  rows: readonly Row[],
  options: Partial<BatchRunOptions> & { limit?: number } = {},
) {
  mkdirSync(out, { recursive: true });
  const folder = await OutputFolder.open(out);
  const pacer = new CreatePacer({
    ...{ clock, attempts: () => [], limit: options.limit, shards: 1, own: [] },
  });
  const accounts = [{ ports, pacer }];
  const hasFile = (name: string) => folder.has(name);
  const states = planRows(rows, folder.known, {}, hasFile, () => accounts);
  for (const state of states) state.account = accounts[0];
  const batch = new Batch(
    { states, folder, accounts },
    {
      signal: new AbortController().signal,
      describe: (error) => ({ code: (error as { code: string }).code, message: String(error), exit_code: 1 }),
      format: ({ value }) => String(value),
      check: async () => undefined,
      announces: false,
      ...options,
    },
  );
  const events: BatchRunEvent[] = [];
  try {
    for await (const event of batch.run()) {
      if (event.kind === "row") events.push({ ...event, state: { ...event.state } });
      else events.push(event);
    }
  } finally {
    folder.close();
  }
  return { events, states };
}

const kinds = (events: readonly BatchRunEvent[]) =>
  events.map((event) =>
    event.kind === "row" ? `${event.state.row.key} ${event.state.standing}` : event.kind,
  );

test("rows are sent, followed and collected, and the events say so", async () => {
  const w = await world();
  const { events, states } = await run(w, rowsOf("one", "two => FAILED"));
  expect(kinds(events).filter((kind) => kind.startsWith("k0"))).toEqual([
    "k0 running",
    "k0 running",
    "k0 done",
  ]);
  expect(states.map(({ standing }) => standing)).toEqual(["done", "failed"]);
  expect(readFileSync(join(w.out, "k0.md"), "utf8")).toBe("An answer to: one");
  expect(
    w.ports.history
      ?.list({ limit: 5 })
      .map(({ status }) => status)
      .sort(),
  ).toEqual(["COMPLETED", "FAILED"]);
});

test("a result whose file was deleted is fetched again, and nothing is sent", async () => {
  const w = await world();
  await run(w, rowsOf("one"));
  rmSync(join(w.out, "k0.md"));
  const { states } = await run(w, rowsOf("one"));
  expect(states[0]).toMatchObject({ standing: "done", file: "k0.md" });
  expect(readFileSync(join(w.out, "k0.md"), "utf8")).toBe("An answer to: one");
  expect(w.service.server.count("create")).toBe(1);
});

test("one bad first poll does not give a row up", async () => {
  const w = await world({
    fault: only("status", html(404), 1),
  });
  const { events, states } = await run(w, rowsOf("one"));
  expect(states[0]?.standing).toBe("done");
  expect(kinds(events)).toEqual(expect.arrayContaining(["trouble", "recovered"]));
});

test("the lengths of earlier runs set the poll interval, as in every watch", async () => {
  const paceWith = async (lengths: number[]) => {
    const w = await world();
    Object.assign(w.ports.history as History, { durations: () => lengths });
    const { client } = w.ports;
    let pace: unknown;
    const watch: typeof client.watch = (source, options) => {
      pace = options?.pollInterval;
      return client.watch(source, options);
    };
    const calls = {
      create: client.create.bind(client),
      check: client.check.bind(client),
      output: client.output.bind(client),
      watch,
    };
    await run({ ...w, ports: { ...w.ports, client: calls as unknown as Ports["client"] } }, rowsOf("one"));
    return pace;
  };
  expect(await paceWith(Array.from({ length: 40 }, (_, i) => 600_000 + i * 1_000))).toBeTypeOf("function");
  expect(await paceWith([])).toBeUndefined();
});

describe("a row that cannot be sent within its time", () => {
  test("ends the creates at once instead of waiting for the hour", async () => {
    const w = await world();
    const { events, states } = await run(w, rowsOf("one", "two"), { limit: 1, timeout: 60_000 });
    const stopped = events.find((event) => event.kind === "creates-stopped");
    expect(Object(stopped?.reason).error).toMatchObject({ code: "TIMEOUT" });
    expect(kinds(events)).not.toContain("waiting-for-quota");
    expect(states.map(({ standing }) => standing)).toEqual(["done", "waiting"]);
  });

  test("is waited for if the slot comes in time", async () => {
    const w = await world();
    const { events, states } = await run(w, rowsOf("one", "two"), { limit: 1, timeout: 2 * 3_600_000 });
    expect(kinds(events)).toContain("waiting-for-quota");
    expect(states.map(({ standing }) => standing)).toEqual(["done", "done"]);
  });
});

test("a create whose id the journal cannot keep is named, and nothing more is sent", async () => {
  const w = await world();
  const rows = rowsOf("one", "two");
  const folder = OutputFolder.prototype;
  const { record } = folder;
  folder.record = function (this: OutputFolder, line, options) {
    if (line.kind === "created") rmSync(join(w.out, ".research-batch"), { recursive: true });
    return record.call(this, line, options);
  };
  try {
    const { events, states } = await run(w, rows);
    const lost = events.find((event) => event.kind === "not-saved");
    expect(lost?.state.requestId).toMatch(/^[0-9a-f-]{36}$/);
    expect(kinds(events)).toContain("creates-stopped");
    expect(w.service.server.count("create")).toBe(1);
    expect(states[1]?.standing).toBe("waiting");
  } finally {
    folder.record = record;
  }
});

test("so many failures end the creates", async () => {
  const w = await world({
    fault: only("create", refuse(400, "VALIDATION_ERROR")),
  });
  const { events, states } = await run(w, rowsOf("one", "two", "three"), { maxFailures: 2 });
  expect(events.find((event) => event.kind === "creates-stopped")?.reason).toEqual({ failures: 2 });
  expect(states.map(({ standing }) => standing)).toEqual(["refused", "refused", "waiting"]);
});

test("an abort ends all work with the signal's reason", async () => {
  const w = await world();
  const stop = new AbortController();
  const reason = new Error("enough");
  const running = run(w, rowsOf("one => PROCESSING"), {
    signal: stop.signal,
    describe: () => ({ code: "X", message: "", exit_code: 1 }),
  });
  void until(async () => w.service.server.count("status") > 0 || undefined).then(() => stop.abort(reason));
  await expect(running).rejects.toBe(reason);
});

test("the first defect ends all work and is thrown", async () => {
  const w = await world();
  const format = () => {
    throw new TypeError("defect");
  };
  await expect(run(w, rowsOf("one", "two => PROCESSING"), { format })).rejects.toThrow("defect");
});

test("a caller that stops iterating ends all work", async () => {
  const w = await world();
  const folder = await OutputFolder.open(w.out);
  const pacer = new CreatePacer({ clock: w.clock, attempts: () => [], limit: undefined, shards: 1, own: [] });
  const accounts = [{ ports: w.ports, pacer }];
  const states = planRows(
    rowsOf("one => PROCESSING"),
    folder.known,
    {},
    () => true,
    () => accounts,
  );
  const batch = new Batch(
    { states, folder, accounts },
    {
      ...{
        signal: new AbortController().signal,
        format: String,
        check: async () => undefined,
        announces: false,
      },
      describe: () => ({ code: "X", message: "", exit_code: 1 }),
    },
  );
  for await (const event of batch.run()) if (event.kind === "row") break;
  const polls = w.service.server.count("status");
  await w.clock.sleep(3_600_000);
  expect(w.service.server.count("status")).toBe(polls);
  folder.close();
});
