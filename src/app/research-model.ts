import type { Clock } from "../core/clock.js";
import type { Environment } from "../core/files/local-error.js";
import { chooseProxy, parseBaseUrl } from "../core/http/base-url-and-proxy.js";
import { Connections } from "../core/http/origin-connections.js";
import type { Researcher } from "../core/researcher.js";
import { isSendableKey } from "../core/secrets/hide-key.js";
import type { EndpointOptions } from "../reader/model/endpoint/chat-endpoint.js";
import type { BudgetLimits } from "../reader/model/session/model-budget.js";
import type { FolderIndexOptions } from "../reader/searching/folder-index.js";
import { ENGINES, type Engine, type EngineName, SearchEngine } from "../reader/searching/search-engines.js";
import type { SourceProvider } from "../reader/searching/source.js";
import type { ModelResearcherOptions } from "../reader/writing/model-researcher.js";
import { findGivenFlag, refuseFlagsBeside, UsageError } from "./errors.js";
import { parseDomains } from "./parse-domains.js";
import { chooseInsecureHttp, readKeyWithTimeout, type SettingChoices } from "./resolve-settings.js";

/** What a request to a model, a search engine or a page needs from this process. */
export interface ModelContext {
  host: {
    env: Environment;
    clock: Clock;
    version: string;
    beforeRequests?: (() => void) | undefined;
  };
  flags: Pick<SettingChoices, "insecureHttp">;
  signal: AbortSignal;
}

/** The flags that choose the model, its limits, and the sources. */
export interface ModelOptions {
  model?: string | undefined;
  modelUrl?: string | undefined;
  modelTokens?: number | undefined;
  modelCalls?: number | undefined;
  /** Maximum duration in milliseconds. */
  modelTime?: number | undefined;
  modelPrice?: ModelResearcherOptions["price"];
  depth?: keyof typeof DEPTHS | undefined;
  length?: ModelResearcherOptions["length"] | undefined;
  search?: string | undefined;
  domains?: string | undefined;
  notDomains?: string | undefined;
  pages?: number | undefined;
}

/** What a service shares with its researcher. */
type ServiceParts = Pick<ModelResearcherOptions, "exchanges" | "log" | "notice">;

/** Creates a researcher that uses a model on a folder, on the web, or on both. Rejects if the folder cannot be read. */
export type ModelResearch = (
  folder: FolderIndexOptions | undefined,
  service: ServiceParts,
) => Promise<Researcher>;

/** The limits for one question, if no flag sets them (contract §4, "With a model"). */
const DEPTHS = {
  quick: { tokens: 25_000, calls: 8, ms: 5 * 60_000 },
  standard: { tokens: 120_000, calls: 25, ms: 15 * 60_000 },
  deep: { tokens: 300_000, calls: 60, ms: 30 * 60_000 },
} as const;

const EXAMPLE_URL = "http://127.0.0.1:11434/v1";

/** Opens the model that the flags name; undefined if they name none. Rejects with UsageError, BaseUrlError, or LocalError for a key file. */
export async function openResearchModel(
  ctx: ModelContext,
  options: ModelOptions & { researcher?: string },
): Promise<ModelResearch | undefined> {
  const { modelPrice, length, researcher } = options;
  const { host } = ctx;
  const web = await openWebSearch(ctx, options);
  if (options.model !== undefined) refuseFlagsBeside("--model", { researcher });
  const endpoint = await openModelEndpoint(ctx, options);
  if (endpoint === undefined) return undefined;
  return async (folder, service) => {
    const { createModelResearcher } = await import("../reader/writing/model-researcher.js");
    const { combineProviders } = await import("../reader/searching/source.js");
    const { createFolderIndex } = await import("../reader/searching/folder-index.js");
    const sources: SourceProvider[] = [];
    if (folder !== undefined) sources.push(createFolderIndex(folder));
    if (web !== undefined) sources.push(await web(service));
    return createModelResearcher({
      endpoint,
      ...{
        limits: readModelLimits(options),
        length: length ?? "normal",
        price: modelPrice,
        sources: combineProviders(sources),
        clock: host.clock,
      },
      ...service,
    });
  };
}

/** Opens the endpoint that the options name; undefined if they name none. `variables`: the prefix of variables, for messages. Rejects as `openResearchModel` does. */
export async function openModelEndpoint(
  ctx: ModelContext,
  { model, modelUrl, modelTokens, modelCalls, modelTime, modelPrice, depth, length }: ModelOptions,
  variables = "",
): Promise<EndpointOptions | undefined> {
  if (model === undefined) {
    const flag = findGivenFlag({ modelUrl, modelTokens, modelCalls, modelTime, modelPrice, depth, length });
    if (flag === undefined) return undefined;
    const orName = variables && ` or ${variables}NAME`;
    throw new UsageError(`${flag} needs the name of a model: --model NAME${orName}`);
  }
  const name = model.trim();
  if (name === "") throw new UsageError("invalid --model: the name is empty");
  if (modelUrl === undefined)
    throw new UsageError(
      `--model needs --model-url URL${variables && ` or ${variables}URL`}`,
      `As in --model-url ${EXAMPLE_URL}`,
    );
  const isInsecure = chooseInsecureHttp(ctx.flags, ctx.host.env).value;
  const url = parseBaseUrl(modelUrl, isInsecure, { name: "model URL", example: EXAMPLE_URL });
  const apiKey = await readModelKey(ctx, "RESEARCH_MODEL_API_KEY");
  return { url, model: name, apiKey, connections: openConnections(ctx, url), clock: ctx.host.clock };
}

/** Returns the limits for one question or one check. */
export function readModelLimits({
  modelTokens,
  modelCalls,
  modelTime,
  depth = "standard",
}: ModelOptions): BudgetLimits {
  const { tokens, calls, ms } = DEPTHS[depth];
  return { tokens: modelTokens ?? tokens, calls: modelCalls ?? calls, ms: modelTime ?? ms };
}

const MOST_PAGES = 30;
/** Maximum number of pages that are split into blocks at a time, for all questions together. */
const MOST_DOCUMENTS = 2;
const EXAMPLE = "--search searxng=https://searx.example.org, or one of brave, tavily, exa and serper";

/** Opens the web as a source, with the search engine that the flags name; undefined if they name none. Rejects as `openResearchModel` does. */
async function openWebSearch(
  ctx: ModelContext,
  { search, domains, notDomains, pages, model }: ModelOptions,
): Promise<((service: ServiceParts) => Promise<SourceProvider>) | undefined> {
  const { host } = ctx;
  if (search === undefined) {
    const flag = findGivenFlag({ domains, notDomains, pages });
    if (flag !== undefined) throw new UsageError(`${flag} needs --search`, `As in ${EXAMPLE}.`);
    return undefined;
  }
  if (model === undefined) throw new UsageError("--search needs a model: pass --model NAME --model-url URL");
  const [given = "", ...rest] = search.split("=");
  const name = (Object.keys(ENGINES) as EngineName[]).find((engine) => engine === given);
  if (name === undefined)
    throw new UsageError(
      `invalid --search: the engine ${JSON.stringify(given)} is not known`,
      `Give ${EXAMPLE}.`,
    );
  const { header }: Engine = ENGINES[name];
  const url = chooseEngineUrl(ctx, name, rest.length > 0 ? rest.join("=") : undefined);
  const apiKey = header ? await readModelKey(ctx, "RESEARCH_SEARCH_API_KEY") : undefined;
  if (header && !apiKey)
    throw new UsageError(
      `--search ${name} needs a key`,
      "Set RESEARCH_SEARCH_API_KEY, or RESEARCH_SEARCH_API_KEY_FILE to the path of a file with it.",
    );
  const limits = {
    domains: parseDomains("--domains", domains),
    notDomains: parseDomains("--not-domains", notDomains),
    pages: pages ?? MOST_PAGES,
  };
  return async (service) => {
    const { createWebSources } = await import("../reader/searching/web-source.js");
    const { checkPublicWeb } = await import("../reader/fetching/allowed-addresses.js");
    const { createDnsResolver } = await import("../reader/fetching/dns-resolver.js");
    const { createDocumentReader } = await import("../reader/parsing/documents/document-reader.js");
    return createWebSources({
      engine: new SearchEngine(name, url, apiKey, openConnections(ctx, url)),
      network: {
        resolve: createDnsResolver({ clock: host.clock }),
        accessTo: checkPublicWeb,
        proxyFor: (target) => chooseProxy(target, host.env),
      },
      read: createDocumentReader(host.clock, MOST_DOCUMENTS),
      ...limits,
      ...service,
      ...{ clock: host.clock, version: host.version },
    });
  };
}

function chooseEngineUrl(ctx: ModelContext, name: EngineName, given: string | undefined): URL {
  const { url: defaultUrl }: Engine = ENGINES[name];
  if (defaultUrl !== undefined && given === undefined) return new URL(defaultUrl);
  if (defaultUrl !== undefined) throw new UsageError(`--search ${name} takes no address`);
  if (!given) throw new UsageError(`--search ${name} needs its address`, `As in ${EXAMPLE}.`);
  const what = { name: "search URL", example: "https://searx.example.org" };
  return parseBaseUrl(given, chooseInsecureHttp(ctx.flags, ctx.host.env).value, what);
}

const CONNECT_MS = 30_000;

/** Opens connections to a model or a search engine, through the proxy of the environment. */
function openConnections({ host }: Pick<ModelContext, "host">, url: URL): Connections {
  host.beforeRequests?.();
  return new Connections(url, chooseProxy(url, host.env), CONNECT_MS);
}

/** Reads the key in the variable `name`, or in the file that `name`_FILE names. No flag takes a key, because a process list shows flags. */
async function readModelKey(
  { host: { env, clock }, signal }: Pick<ModelContext, "host" | "signal">,
  name: string,
): Promise<string | undefined> {
  const file = env[`${name}_FILE`];
  const [key, from] = env[name]
    ? [env[name].trim(), name]
    : [file ? await readKeyWithTimeout(file, clock, signal) : undefined, `${name}_FILE`];
  if (key !== undefined && !isSendableKey(key))
    throw new UsageError(`invalid key in ${from}: it must be visible ASCII without spaces`);
  return key;
}
