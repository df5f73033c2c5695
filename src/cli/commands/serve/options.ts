import { UsageError } from "../../../machine/errors.js";
import type { LogFormat } from "../../../server/monitoring/log.js";
import type { Length } from "../../../server/researchers/model/prompts.js";
import type { Price } from "../../../server/researchers/model/researcher.js";
import type { Context } from "../../context.js";
import type { KeyOptions } from "./key.js";
import type { StoreOptions } from "./store.js";

/** For one research, unless a flag says otherwise (contract §4, "With a model"). */
export const DEPTHS = {
  quick: { tokens: 25_000, calls: 8, ms: 5 * 60_000 },
  standard: { tokens: 120_000, calls: 25, ms: 15 * 60_000 },
  deep: { tokens: 300_000, calls: 60, ms: 30 * 60_000 },
} as const;
type Depth = keyof typeof DEPTHS;

/** What puts a model to work on the sources. */
export interface ModelOptions {
  model?: string;
  modelUrl?: string;
  modelTokens?: number;
  modelCalls?: number;
  /** ms */
  modelTime?: number;
  modelPrice?: Price;
  depth?: Depth;
  length?: Length;
  /** As given; `searchOf` checks it, and the lists. */
  search?: string;
  domains?: string;
  notDomains?: string;
  pages?: number;
}

export interface ServeOptions extends StoreOptions, KeyOptions, ModelOptions {
  port?: number;
  processing: number;
  /** ms */
  keep?: number;
  /** How long new requests are taken after SIGTERM, ms. */
  drain?: number;
  workers?: number;
  researcher?: string;
  /** Default: the current folder, or none with a search. */
  sources?: string;
  /** The profile whose service does the research. */
  upstream?: string;
  /** How many requests may be under way there. */
  upstreamAtOnce?: number;
  allowHost: string[];
  fault: string[];
  seed?: number;
  exec?: string;
  log?: LogFormat | "off";
  metricsOpen?: boolean;
  ui?: boolean;
}

/** Throws UsageError for what goes wrong below, before anything is opened. */
export function checkMonitoring(ctx: Context, options: ServeOptions): void {
  logFormat(ctx, options);
  metricsAccess(ctx, options);
}

/** How requests are logged on stderr; undefined if they are not. Throws UsageError for text among JSON lines. */
export function logFormat({ reporter, flags, host }: Context, { log }: ServeOptions): LogFormat | undefined {
  if (log === "text" && reporter.json) {
    throw new UsageError("--log text cannot be used with --json", "Use --log json, or --log off.");
  }
  if (log !== undefined) return log === "off" ? undefined : log;
  if (reporter.json) return flags.verbose ? "json" : undefined;
  return flags.verbose || host.stderr.isTTY ? "text" : undefined;
}

/** Who may read the metrics; undefined if there are none. Throws UsageError for an invalid token. */
export function metricsAccess(
  { host }: Context,
  { metricsOpen }: ServeOptions,
): { token: string } | "open" | undefined {
  if (metricsOpen) return "open";
  const token = host.env.RESEARCH_SERVE_METRICS_TOKEN?.trim();
  if (!token) return undefined;
  if (!/^[\x21-\x7e]{16,}$/.test(token))
    throw new UsageError(
      "RESEARCH_SERVE_METRICS_TOKEN must be 16 or more visible ASCII characters without spaces",
    );
  return { token };
}
