import { parseBaseUrl } from "../../../client/http/address.js";
import { connections } from "../../../client/http/connections/connections.js";
import { viaProxy } from "../../../client/http/forward-proxy.js";
import { proxyFor } from "../../../client/http/proxy-setting.js";
import { UsageError } from "../../../machine/errors.js";
import { waitForKey } from "../../../machine/key-file.js";
import { insecureHttpIn } from "../../../machine/settings.js";
import type { ExchangeStore } from "../../../server/conversations/exchange-store.js";
import type { BudgetLimits } from "../../../server/researchers/model/session/budget.js";
import type { Researcher } from "../../../server/researchers/researcher.js";
import { SourceIndex, type SourceIndexOptions } from "../../../server/researchers/sources/source-index.js";
import type { Context } from "../../context.js";
import type { ModelOptions } from "./options.js";

/** A model at an endpoint, ready to be asked. */
export interface ModelEndpoint {
  name: string;
  url: URL;
  apiKey: string | undefined;
  limits: BudgetLimits;
}

/** For one research, unless a flag says otherwise: enough for three rounds with a local model. */
const MODEL_LIMITS = { tokens: 300_000, calls: 24, ms: 15 * 60_000 };

const EXAMPLE_URL = "http://127.0.0.1:11434/v1";

/** How long a connection to the endpoint may take, ms. */
const CONNECT_MS = 30_000;

/**
 * The model that the flags name; undefined if they name none. Throws UsageError for an invalid or incomplete set of
 * flags, BaseUrlError for an invalid URL, and LocalError for a key file that cannot be read.
 */
export async function modelOf(
  { flags, host, signal }: Context,
  options: ModelOptions & { researcher?: string },
): Promise<ModelEndpoint | undefined> {
  const { model, modelUrl, modelTokens, modelCalls, modelTime, researcher } = options;
  if (model === undefined) {
    const set = Object.entries({ modelUrl, modelTokens, modelCalls, modelTime }).find(
      ([, value]) => value !== undefined,
    );
    if (set === undefined) return undefined;
    const flag = set[0].replace("model", "--model-").toLowerCase();
    throw new UsageError(`${flag} needs the name of a model: --model NAME`);
  }
  const name = model.trim();
  if (name === "") throw new UsageError("invalid --model: the name is empty");
  if (researcher !== undefined) throw new UsageError("--model and --researcher exclude each other");
  if (modelUrl === undefined) {
    throw new UsageError("--model needs --model-url URL", `As in --model-url ${EXAMPLE_URL}`);
  }
  return {
    name,
    url: parseBaseUrl(modelUrl, insecureHttpIn(flags, host.env).value, {
      name: "model URL",
      example: EXAMPLE_URL,
    }),
    apiKey: await keyIn(host, signal),
    limits: {
      tokens: modelTokens ?? MODEL_LIMITS.tokens,
      calls: modelCalls ?? MODEL_LIMITS.calls,
      ms: modelTime ?? MODEL_LIMITS.ms,
    },
  };
}

/** The researcher with that model on a folder; `exclude` is never read. Throws if the folder cannot be read. */
export async function researcherWith(
  { host }: Context,
  { name, url, apiKey, limits }: ModelEndpoint,
  sourceOptions: SourceIndexOptions,
  service: { exchanges: ExchangeStore; log: (line: string) => void; notice: (line: string) => void },
): Promise<Researcher> {
  const { modelResearcher } = await import("../../../server/researchers/model/researcher.js");
  const sources = new SourceIndex(sourceOptions);
  const proxy = proxyFor(url, host.env);
  host.beforeRequests?.();
  return modelResearcher({
    endpoint: {
      url,
      model: name,
      apiKey,
      connections: {
        ...connections(url, proxy, CONNECT_MS),
        route: (request) => ({ ...request, ...viaProxy(request, proxy), body: request.body }),
      },
    },
    limits,
    sources,
    ...service,
    clock: host.clock,
  });
}

/** The key of the endpoint; undefined if none is set. No flag takes one: a process list shows flags. */
async function keyIn({ env, clock }: Context["host"], signal: AbortSignal): Promise<string | undefined> {
  const file = env.RESEARCH_MODEL_API_KEY_FILE;
  const [key, name] = env.RESEARCH_MODEL_API_KEY
    ? [env.RESEARCH_MODEL_API_KEY.trim(), "RESEARCH_MODEL_API_KEY"]
    : [file ? await waitForKey(file, clock, signal) : undefined, "RESEARCH_MODEL_API_KEY_FILE"];
  if (key !== undefined && !/^[\x21-\x7e]+$/.test(key))
    throw new UsageError(`invalid key in ${name}: it must be visible ASCII without spaces`);
  return key;
}
