import { availableParallelism } from "node:os";
import { CodedError, UsageError } from "../../../app/errors.js";
import { openResearchModel } from "../../../app/research-model.js";
import { onAbort } from "../../../core/clock.js";
import { isLoopback } from "../../../core/http/base-url-and-proxy.js";
import { chooseResearcher, type ResearcherParts } from "../../../researchers/choose-researcher.js";
import { type ConversationStore, StoreError } from "../../../server/conversations/conversation-store.js";
import type { OwnKey } from "../../../server/keys/own-key.js";
import type { LogFormat } from "../../../server/monitoring/operator-log.js";
import { execCommand } from "../../../server/processes/exec-command.js";
import { type Service, startService } from "../../../server/service.js";
import { ServiceStartError } from "../../../server/start-error.js";
import type { Context } from "../../command-context.js";
import { Interrupted } from "../../terminal/interruption.js";
import { openAnswersFlag } from "./answers-flag.js";
import type { ServeOptions } from "./flags.js";
import { DEFAULT_TIER, openStoreWithKey, readDatabaseUrl, readGivenKey } from "./open-store.js";
import { openUpstream } from "./open-upstream.js";
import { announceStart, createMessageWriter, type MessageWriter } from "./serve-messages.js";

const DEFAULT_PORT = 8787;
const UPSTREAM_AT_ONCE = 1_000;
/** How long running requests may take when the service ends, in ms. */
const CLOSE_GRACE_MS = 10_000;
/** How long a process with a database keeps answering after SIGTERM, in ms, until a proxy in front notices that it is closing. */
const DRAIN_MS = 5_000;

/** Runs the local service until a signal stops it, or until the command of --exec has ended. */
export async function serve(ctx: Context, options: ServeOptions): Promise<number> {
  const database = readDatabaseUrl(ctx, options);
  if (options.exec !== undefined && options.role === "worker")
    throw new UsageError(
      "--exec and --role worker cannot be used together: a worker does not answer requests",
    );
  const givenKey = await readGivenKey(ctx, options);
  chooseLogFormat(ctx, options);
  readMetricsToken(ctx);
  const answers = await openAnswersFlag(ctx, options);
  const model = await openResearchModel(ctx, options);
  const voice = createMessageWriter(ctx, options);
  const upstream = await openUpstream(ctx, options, voice.log);
  if (!isLoopback(options.host)) {
    await voice.notice(
      "EXPOSED",
      `the service listens on ${options.host}: anyone who can reach this machine and knows the key can use it, and others can read plain http on the network`,
    );
  }
  const { store, key } = await openStoreWithKey(
    ctx,
    { ...options, log: voice.log },
    database,
    givenKey,
  ).catch(throwStartError);
  if (key === undefined && givenKey !== undefined)
    await voice.notice(
      "KEY_NOT_USED",
      "RESEARCH_SERVE_API_KEY is not used: keys were added to this service, and only those are valid. They cannot see the conversations of the single key",
    );
  let drainMs = 0;
  const parts = { store, apiKey: key?.apiKey, model, voice, upstream, answers };
  const service = await start(ctx, options, parts);
  try {
    const printLink = async () => {
      const link = service.newUiLink?.();
      if (link === undefined)
        voice.log("the page is off; start the service with --ui to get a link", { level: "warning" });
      else if (ctx.reporter.json) await ctx.reporter.writeNotice("UI_LINK", link);
      else await voice.say(`The page, for one browser: ${link}`);
    };
    if (service.newUiLink) await printLink();
    ctx.host.onUserSignal?.(() => void printLink());
    if (options.exec !== undefined) {
      ctx.interruption.markHandled();
      return await execCommand({
        command: options.exec,
        baseUrl: service.baseUrl,
        apiKey: chooseClientKey(ctx, key),
        env: { ...ctx.host.env },
        signal: ctx.signal,
      });
    }
    await announceStart(ctx, voice, service.baseUrl, key, options).catch((error) => {
      // The reader of the address may end the service before the write has returned.
      if (!(error instanceof Interrupted)) throw error;
    });
    await new Promise<void>((resolve) => onAbort(ctx.signal, resolve));
    if (ctx.interruption.received === "SIGHUP") ctx.signal.throwIfAborted();
    const answers = options.role !== "worker";
    if (ctx.interruption.received === "SIGTERM" && answers)
      drainMs = options.drain ?? (database === undefined ? 0 : DRAIN_MS);
    ctx.interruption.markHandled();
    return 0;
  } finally {
    await service.close({ drainMs, graceMs: options.exec === undefined ? CLOSE_GRACE_MS : 0 });
  }
}

interface StartParts extends ResearcherParts {
  store: ConversationStore;
  /** The only valid key; undefined if keys were added to the store. */
  apiKey: string | undefined;
  voice: MessageWriter;
}

/** Starts the service; if that fails, closes the store. Rejects with LocalError if the port or the folder cannot be used. */
export async function start(ctx: Context, options: ServeOptions, parts: StartParts): Promise<Service> {
  const { store, apiKey, voice } = parts;
  const workers = parts.upstream
    ? (options.upstreamAtOnce ?? UPSTREAM_AT_ONCE)
    : (options.workers ?? availableParallelism());
  const researcher = await chooseResearcher(ctx, options, parts, workers).catch(async (error) => {
    await store.close();
    throw error;
  });
  const { clock, stderr } = ctx.host;
  const write = (line: string) => void stderr.write(line).catch(() => {});
  // Any free port will do for --exec, whose command gets the address, and for a worker, which answers only health checks.
  const defaultPort = options.exec === undefined && options.role !== "worker" ? DEFAULT_PORT : 0;
  const [format, metricsToken] = [chooseLogFormat(ctx, options), readMetricsToken(ctx)];
  try {
    return await startService({
      host: options.host,
      port: options.port ?? defaultPort,
      ...(apiKey !== undefined && { apiKey }),
      tier: options.tier ?? DEFAULT_TIER,
      role: options.role ?? "all",
      store,
      processingMs: options.processing,
      workers,
      researcher,
      allowHosts: options.allowHost,
      ...(options.keep !== undefined && { keepMs: options.keep }),
      ...(format && { accessLog: { format, write } }),
      ...(metricsToken && { metricsToken }),
      ...(options.ui && { ui: true }),
      version: ctx.host.version,
      clock,
      log: voice.log,
    });
  } catch (error) {
    await researcher.close();
    return throwStartError(error);
  }
}

function throwStartError(error: unknown): never {
  if (error instanceof ServiceStartError || error instanceof StoreError)
    throw new CodedError("LOCAL_IO", error.message);
  throw error;
}

/** Returns the key for the command of --exec. Added keys are stored only as hashes, so with them the environment has to supply the key. */
function chooseClientKey({ host }: Context, key: OwnKey | undefined): string {
  const apiKey = key?.apiKey ?? host.env.RESEARCH_API_KEY?.trim();
  if (apiKey) return apiKey;
  throw new UsageError("--exec needs one of the added keys", "Set RESEARCH_API_KEY to one of them.");
}

/** Returns the format of the access log; undefined for no log. Throws UsageError for `text` with --json. */
function chooseLogFormat({ reporter, flags, host }: Context, { log }: ServeOptions): LogFormat | undefined {
  if (log === "text" && reporter.json) {
    throw new UsageError("--log text cannot be used with --json", "Use --log json, or --log off.");
  }
  if (log !== undefined) return log === "off" ? undefined : log;
  if (reporter.json) return flags.verbose ? "json" : undefined;
  return flags.verbose || host.stderr.isTTY ? "text" : undefined;
}

/** Returns the token for the metrics; undefined if metrics are not served. Throws UsageError for an invalid token. */
function readMetricsToken({ host }: Context): string | undefined {
  const token = host.env.RESEARCH_SERVE_METRICS_TOKEN?.trim();
  if (!token) return undefined;
  if (!/^[\x21-\x7e]{16,}$/.test(token))
    throw new UsageError(
      "RESEARCH_SERVE_METRICS_TOKEN must be 16 or more visible ASCII characters without spaces",
    );
  return token;
}
