import { lookup } from "node:dns/promises";
import { parseBaseUrl, proxyFor } from "../../../client/http/address.js";
import { Connections } from "../../../client/http/transport.js";
import { UsageError } from "../../../machine/errors.js";
import { insecureHttpIn, waitForKey } from "../../../machine/settings.js";
import { isKeyText } from "../../../protocol/key-pattern.js";
import type { ConversationStore } from "../../../server/conversations/conversation-store.js";
import { commandResearcher } from "../../../server/researchers/command.js";
import { documentReader } from "../../../server/researchers/documents/document.js";
import { extractiveResearcher } from "../../../server/researchers/extractive/extractive-researcher.js";
import type { EndpointConnections } from "../../../server/researchers/model/endpoint/endpoint.js";
import type { ModelResearcherOptions } from "../../../server/researchers/model/researcher.js";
import type { Researcher } from "../../../server/researchers/researcher.js";
import { FolderIndex, type FolderIndexOptions } from "../../../server/researchers/sources/folder-index.js";
import { combined, type SourceProvider } from "../../../server/researchers/sources/source.js";
import type { Upstream } from "../../../server/researchers/upstream.js";
import { isPublicAddress } from "../../../server/researchers/web/addresses.js";
import {
  ENGINES,
  type Engine,
  type EngineName,
  SearchEngine,
} from "../../../server/researchers/web/engines.js";
import { inWords, LocalError } from "../../../store/files.js";
import type { Context } from "../../context.js";
import type { Voice } from "./announce.js";
import type { ModelOptions, ServeOptions } from "./flags.js";

export interface ResearcherParts {
  store: Pick<ConversationStore, "exchanges" | "remote">;
  /** What `modelOf` made of the flags. */
  model: ModelResearch | undefined;
  voice: Pick<Voice, "log" | "notice">;
  /** Does the research instead of any other. */
  upstream?: Upstream | undefined;
}

/**
 * The researcher that the flags name: a program, a model, or the built-in one. On a folder it never reads what belongs
 * to the service. `workers`: how many conversations are PROCESSING at a time. Rejects with a LocalError for a folder that
 * cannot be read.
 */
export async function researcherFor(
  { host }: Context,
  { researcher, sources, search, data, apiKeyFile }: ServeOptions,
  { store, model, voice, upstream }: ResearcherParts,
  workers: number,
): Promise<Researcher> {
  if (upstream) {
    const { upstreamResearcher } = await import("../../../server/researchers/upstream.js");
    return upstreamResearcher({ upstream, remote: store.remote, clock: host.clock, log: voice.log });
  }
  if (researcher) return commandResearcher({ command: researcher, env: { ...host.env } });
  const { RESEARCH_MODEL_API_KEY_FILE, RESEARCH_SEARCH_API_KEY_FILE } = host.env;
  const own = [data, apiKeyFile, RESEARCH_MODEL_API_KEY_FILE, RESEARCH_SEARCH_API_KEY_FILE];
  const log = (line: string) => voice.log(line, { level: "debug" });
  const notice = (text: string) => void voice.notice("SOURCES", text);
  const folder = { root: sources ?? ".", exclude: own.flatMap((path) => path || []), notice };
  try {
    if (model === undefined) return extractiveResearcher({ ...folder, workers, log });
    const { exchanges } = store;
    const service = { exchanges, log, notice: (text: string) => void voice.notice("MODEL", text) };
    return await model(search !== undefined && sources === undefined ? undefined : folder, service);
  } catch (error) {
    throw new LocalError(`the folder ${folder.root} could not be read: ${inWords(error)}`, { cause: error });
  }
}

/** What a service lends to a researcher with a model. */
type ServiceParts = Pick<ModelResearcherOptions, "exchanges" | "log" | "notice">;

/** Makes the researcher with a model on a folder, on the web, or on both. Rejects if the folder cannot be read. */
export type ModelResearch = (
  folder: FolderIndexOptions | undefined,
  service: ServiceParts,
) => Promise<Researcher>;

/** For one research, unless a flag says otherwise (contract §4, "With a model"). */
const DEPTHS = {
  quick: { tokens: 25_000, calls: 8, ms: 5 * 60_000 },
  standard: { tokens: 120_000, calls: 25, ms: 15 * 60_000 },
  deep: { tokens: 300_000, calls: 60, ms: 30 * 60_000 },
} as const;

const EXAMPLE_URL = "http://127.0.0.1:11434/v1";

/**
 * Research with the model that the flags name; undefined if they name none. Throws UsageError for an invalid or
 * incomplete set of flags, BaseUrlError for an invalid URL, and LocalError for a key file that cannot be read.
 */
export async function modelOf(
  ctx: Context,
  options: ModelOptions & { researcher?: string },
): Promise<ModelResearch | undefined> {
  const { model, modelUrl, modelTokens, modelCalls, modelTime, modelPrice, researcher } = options;
  const { depth, length = "normal" } = options;
  const { flags, host } = ctx;
  const web = await searchOf(ctx, options);
  if (model === undefined) {
    const given = { modelUrl, modelTokens, modelCalls, modelTime, modelPrice, depth, length: options.length };
    const set = Object.entries(given).find(([, value]) => value !== undefined);
    if (set === undefined) return undefined;
    const flag = `--${set[0].replace("model", "model-").toLowerCase()}`;
    throw new UsageError(`${flag} needs the name of a model: --model NAME`);
  }
  const name = model.trim();
  if (name === "") throw new UsageError("invalid --model: the name is empty");
  if (researcher !== undefined) throw new UsageError("--model and --researcher exclude each other");
  if (modelUrl === undefined)
    throw new UsageError("--model needs --model-url URL", `As in --model-url ${EXAMPLE_URL}`);
  const what = { name: "model URL", example: EXAMPLE_URL };
  const url = parseBaseUrl(modelUrl, insecureHttpIn(flags, host.env).value, what);
  const apiKey = await keyIn(ctx, "RESEARCH_MODEL_API_KEY");
  const { tokens, calls, ms } = DEPTHS[depth ?? "standard"];
  const limits = { tokens: modelTokens ?? tokens, calls: modelCalls ?? calls, ms: modelTime ?? ms };
  return async (folder, service) => {
    const { modelResearcher } = await import("../../../server/researchers/model/researcher.js");
    const sources: SourceProvider[] = [];
    if (folder !== undefined) sources.push(new FolderIndex(folder));
    if (web !== undefined) sources.push(await web(service));
    return modelResearcher({
      endpoint: { url, model: name, apiKey, connections: connectionsTo(host, url) },
      ...{ limits, length, price: modelPrice, sources: combined(sources), clock: host.clock },
      ...service,
    });
  };
}

/** For one research, unless a flag says otherwise. */
const MOST_PAGES = 30;
const EXAMPLE = "--search searxng=https://searx.example.org, or one of brave, tavily, exa and serper";

/**
 * The web as a source of research, with the search engine that the flags name; undefined if they name none. Throws
 * UsageError for an invalid or incomplete set of flags, BaseUrlError for an invalid address, and LocalError for a key file
 * that cannot be read.
 */
async function searchOf(
  ctx: Context,
  { search, domains, notDomains, pages, model }: ModelOptions,
): Promise<((service: ServiceParts) => Promise<SourceProvider>) | undefined> {
  const { host } = ctx;
  if (search === undefined) {
    const set = { "--domains": domains, "--not-domains": notDomains, "--pages": pages };
    const flag = Object.entries(set).find(([, value]) => value !== undefined)?.[0];
    if (flag !== undefined) throw new UsageError(`${flag} needs --search`, `As in ${EXAMPLE}.`);
    return undefined;
  }
  if (model === undefined)
    throw new UsageError("--search needs a model that reads what is found: --model NAME --model-url URL");
  const [given = "", ...rest] = search.split("=");
  const name = (Object.keys(ENGINES) as EngineName[]).find((engine) => engine === given);
  if (name === undefined)
    throw new UsageError(
      `invalid --search: the engine ${JSON.stringify(given)} is not known`,
      `Give ${EXAMPLE}.`,
    );
  const { header }: Engine = ENGINES[name];
  const url = engineUrl(ctx, name, rest.length > 0 ? rest.join("=") : undefined);
  const apiKey = header ? await keyIn(ctx, "RESEARCH_SEARCH_API_KEY") : undefined;
  if (header && !apiKey)
    throw new UsageError(
      `--search ${name} needs a key`,
      "Set RESEARCH_SEARCH_API_KEY, or RESEARCH_SEARCH_API_KEY_FILE to the path of a file with it.",
    );
  const limits = {
    domains: domainsIn("--domains", domains),
    notDomains: domainsIn("--not-domains", notDomains),
    pages: pages ?? MOST_PAGES,
  };
  return async (service) => {
    const { webSources } = await import("../../../server/researchers/web/web-source.js");
    return webSources({
      engine: new SearchEngine(name, url, apiKey, connectionsTo(host, url)),
      network: {
        resolve: async (target) =>
          (await lookup(target, { all: true, order: "ipv4first" })).map(({ address }) => address),
        isAllowed: (address, port) => isPublicAddress(address) && (port === 80 || port === 443),
        proxyFor: (target) => proxyFor(target, host.env),
      },
      read: documentReader(host.clock),
      ...limits,
      ...service,
      ...{ clock: host.clock, version: host.version },
    });
  };
}

function engineUrl({ flags, host }: Context, name: EngineName, given: string | undefined): URL {
  const { url: own }: Engine = ENGINES[name];
  if (own !== undefined && given === undefined) return new URL(own);
  if (own !== undefined) throw new UsageError(`--search ${name} takes no address`);
  if (!given) throw new UsageError(`--search ${name} needs its address`, `As in ${EXAMPLE}.`);
  const what = { name: "search URL", example: "https://searx.example.org" };
  return parseBaseUrl(given, insecureHttpIn(flags, host.env).value, what);
}

/** Names separated by commas, each as an address has it. */
function domainsIn(flag: string, list: string | undefined): string[] {
  const names = (list ?? "").split(",").map((name) => name.trim().replace(/^\*?\./, ""));
  if (list === undefined) return [];
  return names.map((name) => {
    const { hostname = "" } = URL.canParse(`http://${name}/`) ? new URL(`http://${name}/`) : {};
    if (!/^[\w-]+(?:\.[\w-]+)*$/.test(hostname) || /[/:@?#]/.test(name))
      throw new UsageError(`invalid ${flag}: ${JSON.stringify(name)} is not the name of a domain`);
    return hostname;
  });
}

/** How long a connection to an endpoint may take, ms. */
const CONNECT_MS = 30_000;

/** Connections to what the service itself asks, through the proxy of the environment. */
function connectionsTo(host: Context["host"], url: URL): EndpointConnections {
  host.beforeRequests?.();
  return new Connections(url, proxyFor(url, host.env), CONNECT_MS);
}

/**
 * The key in the variable `name`, or in the file that `name`_FILE names; undefined if neither is set. No flag takes
 * one: a process list shows flags.
 */
async function keyIn(
  { host: { env, clock }, signal }: Pick<Context, "host" | "signal">,
  name: string,
): Promise<string | undefined> {
  const file = env[`${name}_FILE`];
  const [key, from] = env[name]
    ? [env[name].trim(), name]
    : [file ? await waitForKey(file, clock, signal) : undefined, `${name}_FILE`];
  if (key !== undefined && !isKeyText(key))
    throw new UsageError(`invalid key in ${from}: it must be visible ASCII without spaces`);
  return key;
}
