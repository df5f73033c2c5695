import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Clock } from "../clock.js";
import { TIERS, type Tier } from "../protocol/limits.js";
import { Conversations } from "./conversations/conversations.js";
import { openData, restore } from "./conversations/data-folder.js";
import { RateLimiter } from "./conversations/rate-limiter.js";
import { Scheduler } from "./conversations/scheduler.js";
import { createApp } from "./http/app.js";
import type { Fault } from "./http/faults/fault.js";
import { FaultPlan, seeded } from "./http/faults/fault-plan.js";
import { createListener } from "./http/listener.js";
import { apiKeyDigest } from "./http/request-checks.js";
import type { Researcher } from "./researchers/researcher.js";
import { ServiceStartError } from "./start-error.js";

export interface ServiceOptions {
  /** The address to listen on; another one than loopback also becomes a name that it answers to. */
  host: string;
  /** 0 picks a free one. */
  port: number;
  /** The one key that is valid (§5). */
  apiKey: string;
  /** §8 */
  tier: Tier;
  /** Where the journal is kept, for this process alone; without it all is gone with the process. */
  dataDir?: string;
  /** Least time in PENDING and in PROCESSING, ms. */
  pendingMs: number;
  processingMs: number;
  /** How many conversations may be PROCESSING at a time. */
  workers: number;
  researcher: Researcher;
  /** Names for the Host header beside the loopback ones. */
  allowHosts: readonly string[];
  faults: readonly Fault[];
  /** Makes the faults with a probability the same ones each time; else they differ. */
  seed?: number;
  /** In [0, 1), for those faults; stands before `seed`. */
  random?: () => number;
  clock: Clock;
  /** For the log of a person; a key is never in it. */
  log: (line: string) => void;
}

export interface Service {
  /** Without a trailing slash. */
  baseUrl: string;
  /** Stops all work and frees everything: connections, processes, files. */
  close(): Promise<void>;
}

/** How long answers that are under way may still take when the service closes, ms. */
const CLOSE_GRACE_MS = 1_000;

/** Starts the service; resolves when it listens, rejects with a ServiceStartError when it cannot. */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { apiKey, clock, researcher } = options;
  const log = (line: string) => options.log(line.replaceAll(apiKey, "[key]"));
  const data = await openData(options.dataDir, log);
  const conversations = new Conversations(data.journal);
  const scheduler = new Scheduler({ ...options, conversations, log });
  const rateLimiter = new RateLimiter(TIERS[options.tier], clock);
  const unfinished = restore(data.entries, conversations, rateLimiter);
  const allowHosts = new Set([options.host, ...options.allowHosts].map((name) => name.toLowerCase()));
  const faults = new FaultPlan(options.faults, options.random ?? seeded(options.seed));
  const { journal } = data;
  const app = createApp({
    key: apiKeyDigest(apiKey),
    allowHosts,
    clock,
    conversations,
    faults,
    journal,
    scheduler,
    rateLimiter,
    log,
  });
  const server = createListener(app);
  try {
    await listen(server, options);
  } catch (error) {
    await data.close();
    throw error;
  }
  for (const conversation of unfinished) scheduler.add(conversation);
  const end = async () => {
    await closeServer(server);
    await scheduler.close();
    await researcher.close();
    await data.close();
  };
  let ending: Promise<void> | undefined;
  return {
    baseUrl: baseUrlOf(server, options.host),
    close() {
      ending ??= end();
      return ending;
    },
  };
}

function listen(server: Server, { port, host }: ServiceOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      reject(ServiceStartError.ofListening(error, host, port));
    });
    server.listen(port, host, resolve);
  });
}

function baseUrlOf(server: Server, host: string): string {
  const { port, family } = server.address() as AddressInfo;
  if (host === "0.0.0.0") return `http://127.0.0.1:${port}`;
  if (host === "::") return `http://[::1]:${port}`;
  return family === "IPv6" && host.includes(":") ? `http://[${host}]:${port}` : `http://${host}:${port}`;
}

async function closeServer(server: Server): Promise<void> {
  const grace = setTimeout(() => server.closeAllConnections(), CLOSE_GRACE_MS);
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
  });
  clearTimeout(grace);
}
