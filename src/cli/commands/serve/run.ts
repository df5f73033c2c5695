import { availableParallelism } from "node:os";
import { isLoopback } from "../../../client/http/address.js";
import type { Tier } from "../../../protocol/limits.js";
import { openLocalStore } from "../../../server/conversations/local/open-local-store.js";
import { parseFault } from "../../../server/http/faults/fault.js";
import { apiKeyFor, type OwnKey } from "../../../server/keys/own-key.js";
import { execCommand } from "../../../server/processes/exec-command.js";
import { commandResearcher } from "../../../server/researchers/command.js";
import { extractiveResearcher } from "../../../server/researchers/extractive/extractive-researcher.js";
import type { Researcher } from "../../../server/researchers/researcher.js";
import { type Service, startService } from "../../../server/service.js";
import { ServiceStartError } from "../../../server/start-error.js";
import { inWords, LocalError } from "../../../store/errors.js";
import type { Context } from "../../context.js";
import { CliError, Interrupted, UsageError } from "../../errors.js";
import { readKeyFile } from "../../settings.js";

export interface ServeOptions {
  host: string;
  port?: number;
  apiKeyFile?: string;
  tier: Tier;
  data?: string;
  pending: number;
  processing: number;
  workers?: number;
  researcher?: string;
  sources: string;
  allowHost: string[];
  fault: string[];
  seed?: number;
  exec?: string;
}

const DEFAULT_PORT = 8787;

/** Runs the local service until it is told to stop, or until the command given to it has ended. */
export async function serve(ctx: Context, options: ServeOptions): Promise<number> {
  const key = await serviceKey(ctx, options);
  const faults = options.fault.map(readFault);
  if (!isLoopback(options.host)) {
    await ctx.reporter.notice(
      "EXPOSED",
      `the service listens on ${options.host}: whoever reaches this machine and knows the key can use it, and plain http can be read on the way`,
    );
  }
  const service = await start(ctx, options, key, faults);
  try {
    if (options.exec !== undefined) {
      ctx.interruption.meet();
      return await execCommand({
        command: options.exec,
        baseUrl: service.baseUrl,
        apiKey: key.apiKey,
        env: { ...ctx.host.env },
        signal: ctx.signal,
      });
    }
    await announce(ctx, service, key, options).catch(unlessInterrupted);
    await aborted(ctx.signal);
    if (ctx.interruption.received === "SIGHUP") ctx.signal.throwIfAborted();
    ctx.interruption.meet();
    return 0;
  } finally {
    await service.close();
  }
}

/** The built-in researcher on a folder. Throws LocalError for one that cannot be read. */
export function sourcesResearcher(ctx: Context, sources: string, workers: number): Researcher {
  try {
    return extractiveResearcher({
      sources,
      workers,
      notice: (text) => void ctx.reporter.notice("SOURCES", text),
    });
  } catch (error) {
    throw new LocalError(`the folder ${sources} could not be read: ${inWords(error)}`, { cause: error });
  }
}

/** Starts the service. Throws LocalError where a port or a folder is not to be had. */
export async function start(
  ctx: Context,
  options: ServeOptions,
  { apiKey }: OwnKey,
  faults: ReturnType<typeof readFault>[],
): Promise<Service> {
  const workers = options.workers ?? availableParallelism();
  const researcher = options.researcher
    ? commandResearcher({ command: options.researcher, env: { ...ctx.host.env } })
    : sourcesResearcher(ctx, options.sources, workers);
  const log = (line: string) => void (ctx.flags.verbose && ctx.reporter.notice("SERVICE", line));
  const { clock } = ctx.host;
  try {
    const store = await openLocalStore({
      ...(options.data !== undefined && { dataDir: options.data }),
      pendingMs: options.pending,
      clock,
      log,
    });
    return await startService({
      host: options.host,
      port: options.port ?? (options.exec === undefined ? DEFAULT_PORT : 0),
      apiKey,
      tier: options.tier,
      store,
      processingMs: options.processing,
      workers,
      researcher,
      allowHosts: options.allowHost,
      faults,
      ...(options.seed !== undefined && { seed: options.seed }),
      clock,
      log,
    });
  } catch (error) {
    await researcher.close();
    if (error instanceof ServiceStartError) throw new CliError("LOCAL_IO", error.message);
    throw error;
  }
}

/** An explicit key, or one that is made here; beyond this machine only an explicit one will do. */
async function serviceKey(ctx: Context, options: ServeOptions): Promise<OwnKey> {
  const given =
    options.apiKeyFile === undefined
      ? ctx.host.env.RESEARCH_SERVE_API_KEY?.trim()
      : readKeyFile(options.apiKeyFile);
  if (given) {
    if (!/^[\x21-\x7e]+$/.test(given))
      throw new UsageError("the service's key must be visible ASCII without spaces");
    return { apiKey: given, fresh: false };
  }
  if (options.apiKeyFile !== undefined) throw new UsageError(`the key file ${options.apiKeyFile} is empty`);
  if (!isLoopback(options.host)) {
    throw new UsageError(
      `--host ${options.host} lets other machines in, which needs a key of your own`,
      "Give it with --api-key-file PATH or RESEARCH_SERVE_API_KEY.",
    );
  }
  try {
    return await apiKeyFor(options.data);
  } catch (error) {
    if (error instanceof ServiceStartError) throw new CliError("LOCAL_IO", error.message);
    throw error;
  }
}

async function announce(ctx: Context, service: Service, key: OwnKey, options: ServeOptions): Promise<void> {
  const { reporter } = ctx;
  if (reporter.json) {
    await reporter.resultJson({
      base_url: service.baseUrl,
      pid: process.pid,
      ...(key.fresh && { api_key: key.apiKey }),
    });
    return;
  }
  if (key.fresh) await reporter.say(`API key (shown once): ${key.apiKey}`);
  else if (options.data && !options.apiKeyFile)
    await reporter.say(`the API key is in ${options.data}/api-key`);
  await reporter.result(`${service.baseUrl}\n`);
}

function readFault(text: string): ReturnType<typeof parseFault> {
  try {
    return parseFault(text);
  } catch (error) {
    throw new UsageError(`--fault ${text}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Whoever reads the address may well end the service before the write of it is known to have succeeded. */
function unlessInterrupted(error: unknown): void {
  if (!(error instanceof Interrupted)) throw error;
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
