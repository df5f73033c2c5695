import { setTimeout as sleep } from "node:timers/promises";
import { type Clock, systemClock } from "../../src/core/clock.js";
import type { Researcher, ResearchJob } from "../../src/core/researcher.js";
import {
  type LocalStoreOptions,
  openLocalStore,
} from "../../src/server/conversations/local/open-local-store.js";
import { type Service, type ServiceOptions, startService } from "../../src/server/service.js";
import { holdAnswersOf } from "./exchanges.js";
import { leftovers } from "./leftovers.js";
import { ask, post } from "./wire.js";

export const KEY = "test-key-0123456789";

/** A researcher that answers with `answer(job)` at once. */
export function instantResearcher(
  answer: (job: ResearchJob) => unknown = (job) => `about: ${job.prompt}`,
): Researcher {
  return { research: async (job) => answer(job), close: async () => {} };
}

/** A researcher that works until it is aborted, and counts what runs. */
export function endlessResearcher(): Researcher & { running: number } {
  const researcher = {
    running: 0,
    async research(_: ResearchJob, signal: AbortSignal): Promise<unknown> {
      researcher.running += 1;
      return new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => {
          researcher.running -= 1;
          reject(signal.reason);
        });
      });
    },
    close: async () => {},
  };
  return researcher;
}

export type TestServiceOptions = Partial<ServiceOptions & LocalStoreOptions>;

/** A service on a free port, everything at its most permissive; it is closed with the test file at the latest. */
export async function serviceFor(options: TestServiceOptions = {}): Promise<Service> {
  const clock = options.clock ?? systemClock;
  const log = options.log ?? (() => {});
  const store =
    options.store ??
    (await openLocalStore({
      pendingMs: options.pendingMs ?? 0,
      ...(options.dataDir !== undefined && { dataDir: options.dataDir }),
      clock,
      log,
    }));
  const service = await startService({
    host: "127.0.0.1",
    port: 0,
    apiKey: KEY,
    tier: "enterprise",
    store,
    processingMs: 0,
    workers: 2,
    researcher: instantResearcher(),
    allowHosts: [],
    version: "0.0.0",
    clock,
    log,
    ...options,
  });
  leftovers.add(() => service.close());
  holdAnswersOf(Number(new URL(service.baseUrl).port));
  return service;
}

/** What `run` gives, done while a service is there. */
export async function during<T>(
  options: TestServiceOptions,
  run: (service: Service) => Promise<T>,
): Promise<T> {
  const service = await serviceFor(options);
  try {
    return await run(service);
  } finally {
    await service.close();
  }
}

/** A store in memory, which says nothing. */
export const memoryStore = (clock: Clock = systemClock) =>
  openLocalStore({ pendingMs: 0, clock, log: () => {} });

/** Creates a conversation, and gives back its id. */
export async function create({ baseUrl }: Pick<Service, "baseUrl">, body: object = {}): Promise<string> {
  const { json } = await post(baseUrl, "/api/v1/conversations", KEY, { prompt: "x", ...body });
  return String(json.data?.request_id);
}

export async function stateOf({ baseUrl }: Pick<Service, "baseUrl">, id: string): Promise<unknown> {
  return (await ask(baseUrl, { path: `/api/v1/conversation/${id}/status`, key: KEY })).json.data?.status;
}

export async function outputOf({ baseUrl }: Pick<Service, "baseUrl">, id: string) {
  return (await ask(baseUrl, { path: `/api/v1/conversation/${id}/output`, key: KEY })).json;
}

/** Resolves when a conversation is in that state. */
export function reaches(service: Pick<Service, "baseUrl">, id: string, state: string): Promise<true> {
  return until(async () => (await stateOf(service, id)) === state || undefined);
}

/**
 * Asks `probe` until it gives a value, every few ms at first and then every 50: each look costs what it looks at. An
 * error after `limitMs`, which only what hangs reaches.
 */
export async function until<T>(probe: () => Promise<T | undefined>, limitMs = 100_000): Promise<T> {
  const end = performance.now() + limitMs;
  for (let pauseMs = 5; ; pauseMs = Math.min(pauseMs * 1.2, 50)) {
    const value = await probe();
    if (value !== undefined) return value;
    if (performance.now() > end) throw new Error("it did not happen in time");
    await sleep(pauseMs);
  }
}
