import { lookup } from "node:dns/promises";
import { parseBaseUrl } from "../../../client/http/address.js";
import { proxyFor } from "../../../client/http/proxy-setting.js";
import { UsageError } from "../../../machine/errors.js";
import { insecureHttpIn } from "../../../machine/settings.js";
import type { ExchangeStore } from "../../../server/conversations/exchange-store.js";
import type { SourceProvider } from "../../../server/researchers/sources/source.js";
import { isPublicAddress } from "../../../server/researchers/web/addresses.js";
import {
  ENGINES,
  type Engine,
  type EngineName,
  type EngineOptions,
  SearchEngine,
} from "../../../server/researchers/web/engines.js";
import type { Context } from "../../context.js";
import { connectionsTo, keyIn } from "./endpoint.js";
import type { ModelOptions } from "./options.js";

/** A search engine, and what of the web may be read. */
export interface WebSearch extends Omit<EngineOptions, "connections"> {
  domains: string[];
  notDomains: string[];
  pages: number;
}

/** For one research, unless a flag says otherwise. */
const MOST_PAGES = 30;
const EXAMPLE = "--search searxng=https://searx.example.org, or one of brave, tavily, exa and serper";

/**
 * The search engine that the flags name; undefined if they name none. Throws UsageError for an invalid or incomplete
 * set of flags, BaseUrlError for an invalid address, and LocalError for a key file that cannot be read.
 */
export async function searchOf(ctx: Context, options: ModelOptions): Promise<WebSearch | undefined> {
  const { search, domains, notDomains, pages = MOST_PAGES, model } = options;
  if (search === undefined) {
    const set = { "--domains": domains, "--not-domains": notDomains, "--pages": options.pages };
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
  const lists = {
    domains: domainsIn("--domains", domains),
    notDomains: domainsIn("--not-domains", notDomains),
  };
  return { name, url, apiKey, ...lists, pages };
}

/** The web as a source of research. */
export async function webWith(
  { host }: Context,
  { name, url, apiKey, ...limits }: WebSearch,
  service: { exchanges: ExchangeStore; log: (line: string) => void },
): Promise<SourceProvider> {
  const { Web } = await import("../../../server/researchers/web/web-source.js");
  return new Web({
    engine: new SearchEngine({ name, url, apiKey, connections: connectionsTo(host, url) }),
    network: {
      resolve: async (target) =>
        (await lookup(target, { all: true, order: "ipv4first" })).map(({ address }) => address),
      isAllowed: (address, port) => isPublicAddress(address) && (port === 80 || port === 443),
      proxyFor: (target) => proxyFor(target, host.env),
    },
    ...limits,
    ...service,
    clock: host.clock,
    version: host.version,
  });
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
