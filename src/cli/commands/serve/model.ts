import { parseBaseUrl } from "../../../client/http/address.js";
import { UsageError } from "../../../machine/errors.js";
import { insecureHttpIn } from "../../../machine/settings.js";
import type { ExchangeStore } from "../../../server/conversations/exchange-store.js";
import type { BudgetLimits } from "../../../server/researchers/model/session/budget.js";
import type { Researcher } from "../../../server/researchers/researcher.js";
import { combined } from "../../../server/researchers/sources/combined.js";
import type { SourceProvider } from "../../../server/researchers/sources/source.js";
import { SourceIndex, type SourceIndexOptions } from "../../../server/researchers/sources/source-index.js";
import type { Context } from "../../context.js";
import { connectionsTo, keyIn } from "./endpoint.js";
import type { ModelOptions } from "./options.js";
import { searchOf, type WebSearch, webWith } from "./search.js";

/** A model at an endpoint, ready to be asked. */
export interface ModelEndpoint {
  name: string;
  url: URL;
  apiKey: string | undefined;
  limits: BudgetLimits;
  /** What finds pages of the web, if it is searched. */
  search: WebSearch | undefined;
}

/** For one research, unless a flag says otherwise: enough for three rounds with a local model. */
const MODEL_LIMITS = { tokens: 300_000, calls: 24, ms: 15 * 60_000 };

const EXAMPLE_URL = "http://127.0.0.1:11434/v1";

/**
 * The model that the flags name; undefined if they name none. Throws UsageError for an invalid or incomplete set of
 * flags, BaseUrlError for an invalid URL, and LocalError for a key file that cannot be read.
 */
export async function modelOf(
  ctx: Context,
  options: ModelOptions & { researcher?: string },
): Promise<ModelEndpoint | undefined> {
  const { model, modelUrl, modelTokens, modelCalls, modelTime, researcher } = options;
  const { flags, host } = ctx;
  const search = await searchOf(ctx, options);
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
    apiKey: await keyIn(ctx, "RESEARCH_MODEL_API_KEY"),
    search,
    limits: {
      tokens: modelTokens ?? MODEL_LIMITS.tokens,
      calls: modelCalls ?? MODEL_LIMITS.calls,
      ms: modelTime ?? MODEL_LIMITS.ms,
    },
  };
}

/** The researcher with that model on a folder, on the web, or on both. Throws if the folder cannot be read. */
export async function researcherWith(
  ctx: Context,
  { name, url, apiKey, limits, search }: ModelEndpoint,
  folder: SourceIndexOptions | undefined,
  service: { exchanges: ExchangeStore; log: (line: string) => void; notice: (line: string) => void },
): Promise<Researcher> {
  const { modelResearcher } = await import("../../../server/researchers/model/researcher.js");
  const sources: SourceProvider[] = [];
  if (folder !== undefined) sources.push(new SourceIndex(folder));
  if (search !== undefined) sources.push(await webWith(ctx, search, service));
  return modelResearcher({
    endpoint: { url, model: name, apiKey, connections: connectionsTo(ctx.host, url) },
    limits,
    sources: combined(sources),
    ...service,
    clock: ctx.host.clock,
  });
}
