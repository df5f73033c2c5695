import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ResearchClient } from "../../src/client/calls/research-client.js";
import { computeRowDigest } from "../../src/client/store/history/equal-creates.js";
import { History } from "../../src/client/store/history/history.js";
import type { Account } from "../../src/client/workflows/account.js";
import type { BatchRunEvent, BatchRunOptions } from "../../src/client/workflows/batch/batch-context.js";
import { BatchFolder } from "../../src/client/workflows/batch/batch-folder.js";
import { type BatchRow, buildRowId } from "../../src/client/workflows/batch/batch-row.js";
import { type BatchLane, CreatePacer } from "../../src/client/workflows/batch/create-pacer.js";
import { planRows, type RowState } from "../../src/client/workflows/batch/plan-rows.js";
import { BatchRunner } from "../../src/client/workflows/batch/run-batch.js";
import { folderWith } from "./folder.js";
import { type HappyOptions, HappyService, KEY } from "./happy-service.js";
import { leftovers } from "./leftovers.js";
import { VirtualClock } from "./virtual-clock.js";
import { jsonLines } from "./world.js";

/** A batch without a terminal: a service, a history and an output folder. */
export async function batchWorld(options: HappyOptions = {}, clock = new VirtualClock(), profile?: string) {
  const service = await HappyService.start(options);
  const client = new ResearchClient({ baseUrl: service.url, apiKey: KEY, clock, random: () => 0.5 });
  leftovers.add(() => client.close());
  const history = new History(folderWith(), () => clock.now());
  const account: Account = {
    ...{ client, history, clock, apiKey: KEY, origin: new URL(service.url).origin, profile: profile ?? null },
    ...{ unrecorded: false, outputField: "output" },
  };
  const out = join(folderWith(), "out");
  const read = (name: string) => readFileSync(join(out, name), "utf8");
  return { service, account, clock, out, read };
}

export type BatchWorld = Awaited<ReturnType<typeof batchWorld>>;

/** Rows with the keys k0, k1 and so on. */
export function rowsOf(...prompts: string[]): BatchRow[] {
  return prompts.map((prompt, index) => {
    const body = { prompt };
    const digest = computeRowDigest(body);
    return { id: buildRowId(`k${index}`, digest, 1), key: `k${index}`, line: index + 1, body, digest };
  });
}

/** An account of a batch, with its creates per hour. */
export function accountAt({ account }: Pick<BatchWorld, "account">, limit?: number): BatchLane {
  const { clock, history } = account;
  const attempts = () => history?.countHour(account, 1).attempts;
  return { account, pacer: new CreatePacer({ clock, attempts, limit, own: [] }) };
}

export interface BatchRun extends Partial<BatchRunOptions> {
  limit?: number;
  /** Default: that of the world alone. */
  lanes?: readonly BatchLane[];
  /** Called with each event; whether the caller stops there. */
  seen?: (event: BatchRunEvent, batch: BatchRunner) => boolean | undefined;
}

/** Runs a batch to its end. The states of its `row` events are as they were at the time. */
export async function runBatch(
  w: BatchWorld,
  rows: readonly BatchRow[],
  { limit, lanes = [accountAt(w, limit)], seen, ...options }: BatchRun = {},
) {
  mkdirSync(w.out, { recursive: true });
  const folder = await BatchFolder.open(w.out);
  const hasFile = (name: string) => folder.has(name);
  const states = planRows(rows, folder.known, {}, hasFile, () => lanes[0]);
  for (const state of states)
    state.lane = lanes.find(({ account }) => account.origin === (state.origin ?? account.origin));
  const batch = new BatchRunner(
    { states, folder, lanes },
    {
      signal: new AbortController().signal,
      describe: (error) => ({ code: (error as { code: string }).code, message: String(error), exit_code: 1 }),
      format: ({ value }) => (typeof value === "string" ? value : JSON.stringify(value)),
      check: async () => undefined,
      ...options,
    },
  );
  const events: BatchRunEvent[] = [];
  try {
    for await (const event of batch.run()) {
      events.push("state" in event ? ({ ...event, state: { ...event.state } } as BatchRunEvent) : event);
      if (seen?.(event, batch)) break;
    }
  } finally {
    folder.close();
  }
  return { events, states, batch };
}

/** What each row was told of, in order: its standing and state, or what went wrong; of no row: "". Repetitions are left out. */
export function told(events: readonly BatchRunEvent[]): Record<string, string[]> {
  const all: Record<string, string[]> = {};
  for (const event of events) {
    const { kind, state, final, activity, error, reason, message, until } = event as Partial<
      Record<string, unknown>
    > & { kind: string; state?: RowState };
    const cause = (error ?? Object(reason).error) as { code?: string; name: string } | undefined;
    const words = [
      kind === "row" ? state?.standing : kind,
      kind === "row" && state?.status,
      final && "final",
    ];
    const more = [activity, cause && (cause.code ?? cause.name), Object(reason).failures, message];
    const at = until !== undefined && new Date(until as number).toISOString().slice(11, 19);
    const key = state?.row.key ?? "";
    const line = [...words, ...more, at].filter(Boolean).join(" ");
    const before = all[key] ?? [];
    if (before.at(-1) !== line) all[key] = [...before, line];
  }
  return all;
}

/** The lines of a batch's journal for each row, without the row and its key. */
export function journalOf({ read }: BatchWorld): Record<string, Record<string, unknown>[]> {
  const all: Record<string, Record<string, unknown>[]> = {};
  for (const { row, ...rest } of jsonLines(
    read(".research-batch/journal.jsonl").trim().replace(/\n+|$/g, "\n"),
  )) {
    const key = String(row).slice("key:".length);
    all[key] = [...(all[key] ?? []), rest];
  }
  return all;
}
