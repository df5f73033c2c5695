import { parseBaseUrl } from "../../../client/http/address.js";
import { UsageError } from "../../../machine/errors.js";
import { insecureHttpIn } from "../../../machine/settings.js";
import type { ExchangeStore } from "../../../server/conversations/exchange-store.js";
import type { Length } from "../../../server/researchers/model/prompts.js";
import type { Price } from "../../../server/researchers/model/researcher.js";
import type { BudgetLimits } from "../../../server/researchers/model/session/budget.js";
import type { Researcher } from "../../../server/researchers/researcher.js";
import { combined } from "../../../server/researchers/sources/combined.js";
import type { SourceProvider } from "../../../server/researchers/sources/source.js";
import { SourceIndex, type SourceIndexOptions } from "../../../server/researchers/sources/source-index.js";
import type { Context } from "../../context.js";
import { connectionsTo, keyIn } from "./endpoint.js";
import { DEPTHS, type ModelOptions } from "./options.js";
import { searchOf, type WebSearch, webWith } from "./search.js";

/** A model at an endpoint, ready to be asked. */
export interface ModelEndpoint {
  name: string;
  url: URL;
  apiKey: string | undefined;
  limits: BudgetLimits;
  length: Length;
  price: Price | undefined;
  /** What finds pages of the web, if it is searched. */
  search: WebSearch | undefined;
}

const EXAMPLE_URL = "http://127.0.0.1:11434/v1";

/**
 * The model that the flags name; undefined if they name none. Throws UsageError for an invalid or incomplete set of
 * flags, BaseUrlError for an invalid URL, and LocalError for a key file that cannot be read.
 */
export async function modelOf(
  ctx: Context,
  options: ModelOptions & { researcher?: string },
): Promise<ModelEndpoint | undefined> {
  const { model, modelUrl, modelTokens, modelCalls, modelTime, modelPrice, depth, length, researcher } =
    options;
  const { flags, host } = ctx;
  const search = await searchOf(ctx, options);
  if (model === undefined) {
    const given = { modelUrl, modelTokens, modelCalls, modelTime, modelPrice, depth, length };
    const set = Object.entries(given).find(([, value]) => value !== undefined);
    if (set === undefined) return undefined;
    const flag = `--${set[0].replace("model", "model-").toLowerCase()}`;
    throw new UsageError(`${flag} needs the name of a model: --model NAME`);
  }
  const name = model.trim();
  if (name === "") throw new UsageError("invalid --model: the name is empty");
  if (researcher !== undefined) throw new UsageError("--model and --researcher exclude each other");
  if (modelUrl === undefined) {
    throw new UsageError("--model needs --model-url URL", `As in --model-url ${EXAMPLE_URL}`);
  }
  const limits = DEPTHS[depth ?? "standard"];
  return {
    name,
    url: parseBaseUrl(modelUrl, insecureHttpIn(flags, host.env).value, {
      name: "model URL",
      example: EXAMPLE_URL,
    }),
    apiKey: await keyIn(ctx, "RESEARCH_MODEL_API_KEY"),
    search,
    limits: {
      tokens: modelTokens ?? limits.tokens,
      calls: modelCalls ?? limits.calls,
      ms: modelTime ?? limits.ms,
    },
    length: length ?? "normal",
    price: modelPrice,
  };
}

/** The researcher with that model on a folder, on the web, or on both. Throws if the folder cannot be read. */
export async function researcherWith(
  ctx: Context,
  { name, url, apiKey, limits, length, price, search }: ModelEndpoint,
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
    length,
    price,
    sources: combined(sources),
    ...service,
    clock: ctx.host.clock,
  });
}
