import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Clock } from "../core/clock.js";
import { TIERS, type Tier } from "../core/protocol/rate-limits.js";
import type { Researcher, ResearcherFacts } from "../core/researcher.js";
import { type ConversationStore, ServiceClosing } from "./conversations/conversation-store.js";
import { deleteOldConversations } from "./conversations/delete-old-conversations.js";
import { Scheduler } from "./conversations/scheduler.js";
import { createAuthenticator } from "./http/authentication.js";
import { createHttpApp } from "./http/http-app.js";
import { createNodeServer } from "./http/node-server.js";
import { hashKey, isKeyValid, shortenHash } from "./keys/key-store.js";
import { logKeyChanges } from "./monitoring/key-changes.js";
import type { Observer } from "./monitoring/observe-exchange.js";
import { createAccessLog, createHidingLog, type Log, type LogFormat } from "./monitoring/operator-log.js";
import type { Role } from "./process-role.js";
import { ServiceStartError } from "./start-error.js";

export interface ServiceOptions {
  /** The address to listen on. If it is not loopback, it is also accepted in the Host header. */
  host: string;
  /** The port to listen on; 0 chooses a free one. */
  port: number;
  /** The only valid key (§5), until keys are added to the store. */
  apiKey?: string;
  /** The tier of the single key, which sets its hourly limits (§8). */
  tier: Tier;
  /** What this process does: a worker serves no operations, an API does no research. Default: `all`. */
  role?: Role;
  /** The store, which the service closes at its end and after a failed start. */
  store: ConversationStore;
  /** Minimum time in PROCESSING, in ms. */
  processingMs: number;
  /** Maximum number of conversations that may be PROCESSING at a time. */
  workers: number;
  researcher: Researcher;
  /** Host names that are accepted in addition to the loopback names. */
  allowHosts: readonly string[];
  /** Milliseconds after its end at which a conversation is deleted; undefined keeps all. */
  keepMs?: number;
  /** Writes a line for each request. */
  accessLog?: { format: LogFormat; write: (line: string) => void };
  /** The token for `/metrics`; undefined disables metrics. */
  metricsToken?: string;
  /** Whether the service has a page at `/ui`. */
  ui?: boolean;
  /** The version of the program, for the metrics. */
  version: string;
  clock: Clock;
  log: Log;
}

export interface Service {
  /** The address of the service, without a slash at the end. */
  baseUrl: string;
  /** Creates a link that opens the page at `/ui` for one browser, once. The previous link becomes invalid. */
  newUiLink?(): string;
  /** Closes the service: `/ready` answers 503, requests are accepted for `drainMs` (0) more, and running ones get `graceMs` (1,000). */
  close(times?: { drainMs?: number; graceMs?: number }): Promise<void>;
}

/** Starts the service. Resolves when it listens; rejects with a ServiceStartError if it cannot start. */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { apiKey, clock, keepMs, metricsToken, researcher, store } = options;
  const log = createHidingLog(apiKey, options.log);
  const metrics =
    metricsToken && (await import("./monitoring/metrics.js")).createMetrics(store, options.version, clock);
  const observers: Observer[] = metrics ? [metrics.observer] : [];
  if (options.accessLog) observers.push(createAccessLog(options.accessLog.format, options.accessLog.write));
  const scheduler = new Scheduler({ ...options, log, ...(metrics && { ended: metrics.researched }) });
  const { tier } = options;
  const hash = apiKey === undefined ? undefined : hashKey(apiKey);
  const single = hash === undefined ? undefined : { id: shortenHash(hash), hash, tier, limits: TIERS[tier] };
  const ui = options.ui && (await import("./ui/ui.js")).createUi({ store, single, clock });
  const closing = new AbortController();
  const app = createHttpApp({
    hasOperations: options.role !== "worker",
    store,
    authenticate: createAuthenticator(store.keys, single, clock),
    observers,
    metricsToken,
    ...(metrics && { metrics }),
    clock,
    allowHosts: new Set([options.host, ...options.allowHosts].map((name) => name.toLowerCase())),
    ...(ui && { ui }),
    log,
    closing: closing.signal,
  });
  const server = createNodeServer(app, closing.signal);
  try {
    if (options.role !== "api") await recordResearcherFacts(store, researcher.facts ?? {}, options);
    await listenOn(server, options);
  } catch (error) {
    await store.close();
    throw error;
  }
  if (options.role !== "api") scheduler.start();
  if (options.role !== "worker") void logKeyChanges(store.keys, log, clock, closing.signal);
  const deleting =
    keepMs === undefined ? undefined : deleteOldConversations(store, keepMs, clock, log, closing.signal);
  const end = async ({ drainMs = 0, graceMs = 1_000 }) => {
    closing.abort(new ServiceClosing("the service is closing"));
    // Other workers take over the work while this process still answers.
    const stopped = scheduler.stop();
    await clock.sleep(drainMs);
    if (ui) ui.close();
    await closeServer(server, graceMs);
    // A research program is killed after 5 s; research that waits for a silent store should not take much longer.
    store.closeAtOnce?.(8_000);
    await stopped;
    store.closeAtOnce?.();
    await Promise.all([deleting, scheduler.close()]);
    await researcher.close();
    await store.close();
  };
  let ending: Promise<void> | undefined;
  const baseUrl = getBaseUrl(server, options.host);
  return {
    baseUrl,
    ...(ui && { newUiLink: () => `${baseUrl}${ui.newLink()}` }),
    close(times = {}) {
      ending ??= end(times);
      return ending;
    },
  };
}

/** Tells the store what the researcher reports. Warns about keys with a budget of dollars if it does not report its cost. */
async function recordResearcherFacts(
  store: ConversationStore,
  facts: ResearcherFacts,
  { clock, log }: ServiceOptions,
) {
  await store.declareResearch(facts);
  if (facts.saysDollars !== false) return;
  const keys = (await store.keys.list()).filter(
    (key) => key.budgets?.dollars && isKeyValid(key, clock.now()),
  );
  if (keys.length === 0) return;
  const names = keys.map(({ name }) => name).join(", ");
  log(`the researcher does not report its cost, so keys with --dollars create nothing (${names})`, {
    level: "warning",
  });
}

function listenOn(server: Server, { port, host }: ServiceOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      reject(ServiceStartError.fromListening(error, host, port));
    });
    server.listen(port, host, resolve);
  });
}

function getBaseUrl(server: Server, host: string): string {
  const { port, family } = server.address() as AddressInfo;
  if (host === "0.0.0.0") return `http://127.0.0.1:${port}`;
  if (host === "::") return `http://[::1]:${port}`;
  return family === "IPv6" && host.includes(":") ? `http://[${host}]:${port}` : `http://${host}:${port}`;
}

async function closeServer(server: Server, graceMs: number): Promise<void> {
  // Accept connections that are already established, because closing would reset them.
  await new Promise((resolve) => setImmediate(resolve));
  const grace = setTimeout(() => server.closeAllConnections(), graceMs);
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
  });
  clearTimeout(grace);
}
