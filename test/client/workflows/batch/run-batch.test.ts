import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ResearchError } from "../../../../src/client/calls/errors.js";
import type { History } from "../../../../src/client/store/history/history.js";
import type { Account } from "../../../../src/client/workflows/account.js";
import type { BatchRunEvent } from "../../../../src/client/workflows/batch/batch-context.js";
import { BatchFolder } from "../../../../src/client/workflows/batch/batch-folder.js";
import { LocalError } from "../../../../src/core/files/local-error.js";
import {
  accountAt,
  journalOf,
  rowsOf,
  runBatch as run,
  told,
  batchWorld as world,
} from "../../../support/batch-run.js";
import { hang, html, only, refuse } from "../../../support/behaviours.js";
import type { HappyOptions } from "../../../support/happy-service.js";
import { until } from "../../../support/service.js";

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
    w.account.history
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
  expect((await run(w, rowsOf("one"))).events).toEqual([]);
  expect(readFileSync(join(w.out, "k0.md"), "utf8")).toBe("An answer to: one");
  expect(w.service.server.count("create")).toBe(1);
});

test("one bad first poll does not give a row up", async () => {
  const w = await world({
    fault: only("status", html(404), 1),
  });
  const { events, states } = await run(w, rowsOf("one"));
  expect(states[0]?.standing).toBe("done");
  expect(told(events)[""]).toEqual(["trouble poll NOT_FOUND", "recovered"]);
});

test("the lengths of earlier runs set the poll interval, as in every watch", async () => {
  const paceWith = async (lengths: number[]) => {
    const w = await world();
    Object.assign(w.account.history as History, { listDurations: () => lengths });
    const { client } = w.account;
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
    await run(
      { ...w, account: { ...w.account, client: calls as unknown as Account["client"] } },
      rowsOf("one"),
    );
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
    expect(Object(stopped?.reason).error).toMatchObject({
      ...{
        code: "TIMEOUT",
        message: expect.stringMatching(/ at 2030-01-01T01:.*, after the 1m of --timeout$/),
      },
    });
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

test.each<[string, "created" | "intent", string[], string[], number]>([
  [
    "whose id the journal cannot keep is named",
    "created",
    ["not-saved LocalError", "running PENDING"],
    ["intent", "created", "ended"],
    1,
  ],
  ["that the journal cannot keep is not sent", "intent", [], ["intent", "dismissed"], 0],
])("a create %s, and nothing more is sent", async (_, kind, first, lines, sent) => {
  const w = await world();
  const folder = BatchFolder.prototype;
  const { record } = folder;
  let isFull = false;
  // The line stands there all the same: it is its sync that failed.
  folder.record = function (this: BatchFolder, line, options) {
    record.call(this, line, options);
    const isNow = !isFull && line.kind === kind;
    isFull ||= isNow;
    if (isNow) throw new LocalError("full");
  };
  try {
    const { events, states } = await run(w, rowsOf("one => COMPLETED", "two"));
    expect(told(events).k0?.slice(0, 2) ?? []).toEqual(first);
    expect(told(events)[""]).toEqual(["creates-stopped LocalError"]);
    expect(journalOf(w).k0?.map((line) => line.kind)).toEqual(lines);
    expect([w.service.server.count("create"), states[1]?.standing]).toEqual([sent, "waiting"]);
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

test.each<[string, HappyOptions["fault"]]>([
  ["PROCESSING", undefined],
  ["COMPLETED", only("output", hang())],
  ["FAILED", only("output", hang())],
])("an abort ends all work at once with the signal's reason: %s", async (state, fault) => {
  const w = await world({ fault });
  const stop = new AbortController();
  const reason = new ResearchError("ENOUGH", "enough");
  const start = w.clock.now();
  const seen: BatchRunEvent["kind"][] = [];
  const running = run(w, rowsOf(`one => ${state}`, "two"), {
    ...{ signal: stop.signal, limit: 1, seen: ({ kind }) => void seen.push(kind) },
  });
  const asked = fault ? "output" : "status";
  void until(async () => w.service.server.count(asked) > 0 || undefined).then(() => stop.abort(reason));
  await expect(running).rejects.toBe(reason);
  expect(seen).not.toContain("creates-stopped");
  // What hangs is not waited for.
  if (fault) expect(w.clock.now() - start).toBeLessThan(30_000);
});

const defect = () => {
  throw new TypeError("defect");
};
test.each<[string, object, HappyOptions["fault"]]>([
  ["a result", { format: defect }, undefined],
  ["a refusal", { describe: defect }, only("create", refuse(400, "VALIDATION_ERROR"))],
])("the first defect ends all work and is thrown: of %s", async (_, options, fault) => {
  const w = await world({ fault });
  await expect(run(w, rowsOf("one", "two => PROCESSING"), options)).rejects.toMatchObject({
    message: "defect",
  });
});

test.each<[string, number | undefined, number, object, boolean]>([
  ["an account with a limit", 3, 1, expect.objectContaining({ left: 2, nextAt: expect.any(Number) }), true],
  ["an account without one", undefined, 1, {}, false],
  ["several accounts, of which one has a limit", 3, 2, {}, false],
])("what is known of the hours ahead, of %s", async (_, limit, count, outlook, hasLimit) => {
  const w = await world();
  const lanes = Array.from({ length: count }, (_, nth) => accountAt(w, nth ? undefined : limit));
  const { batch } = await run(w, rowsOf("one => COMPLETED"), { lanes });
  expect([batch.forecast, batch.hasLimit]).toEqual([outlook, hasLimit]);
});

test("a caller that stops iterating ends all work", async () => {
  const w = await world();
  await run(w, rowsOf("one => PROCESSING"), { seen: ({ kind }) => kind === "row" });
  const polls = w.service.server.count("status");
  await w.clock.sleep(3_600_000);
  expect(w.service.server.count("status")).toBe(polls);
});
