import { findProvider, INTERFACE } from "../client/dialects/providers.js";
import { copyWithExactMembers, isObject, parseExactValue, tryParseExact } from "../core/json/exact-json.js";
import {
  buildRequestBody,
  type CreateBody,
  insertContextFiles,
  type JsonSchema,
} from "../core/protocol/conversation.js";
import { UsageError } from "./errors.js";
import { parseDomains } from "./parse-domains.js";
import { checkTextSize } from "./read-text.js";
import type { ResolvedSettings } from "./resolve-settings.js";

/** The options of a create call that only providers accept, as the flags give them. */
export interface ProviderOptionFlags {
  model?: string | undefined;
  /** Texts `NAME=VALUE`. */
  set?: readonly string[] | undefined;
  /** The provider's id for a follow-up. */
  after?: string | undefined;
  /** Domains to search, and domains to exclude, separated by commas. */
  domains?: string | undefined;
  notDomains?: string | undefined;
  /** The time within which the result may arrive at a lower price, in the provider's notation. */
  window?: string | undefined;
}

/** Adds the options in flags and settings to the body of a create call. Throws UsageError for an invalid option, or for one that the service does not support. */
export function addProviderOptions(
  { settings }: { settings: Pick<ResolvedSettings, "provider" | "model" | "set"> },
  body: CreateBody,
  { model, set = [], after, ...flags }: ProviderOptionFlags,
): CreateBody {
  if (body.context) checkTextSize(insertContextFiles(body).prompt, "the prompt with its context");
  const wanted = {
    ...{ model: model ?? body.model, options: set[0] ?? body.options, "follow-up": after },
    ...{ domains: flags.domains ?? flags.notDomains, window: flags.window },
  };
  const given = Object.entries(wanted).find(([, value]) => value !== undefined);
  if (settings.provider.value === INTERFACE) {
    if (given === undefined) return body;
    throw new UsageError(
      `the service in use has the research interface, which takes no ${given[0]}`,
      "--model, --set, --after, --window, --domains and --not-domains are for providers (`research help providers`). `research login PROVIDER` stores an account at one.",
    );
  }
  if (model?.trim() === "") throw new UsageError("invalid value for --model: it is blank");
  const stored = parseSetOptions(settings.set?.value);
  const setOptions = Object.fromEntries(set.map(parseSetOption));
  const ofFlags = buildFlagOptions(settings.provider.value, flags, { ...stored, ...setOptions });
  const options = { ...stored, ...body.options, ...setOptions, ...ofFlags };
  const named = model ?? body.model ?? settings.model?.value;
  return {
    ...body,
    ...(named !== undefined && { model: named }),
    ...(Object.keys(options).length > 0 && { options }),
    ...(after !== undefined && { after }),
  };
}

/** Converts flags to the provider's own options. Throws UsageError if the provider has no such option, or if `--set` sets it, too. */
function buildFlagOptions(
  name: string,
  { domains, notDomains, window }: Pick<ProviderOptionFlags, "domains" | "notDomains" | "window">,
  ownOptions: object,
): Record<string, unknown> {
  const provider = findProvider(name);
  const all: Record<string, unknown> = {};
  const add = (flag: string, lack: string, options: Record<string, unknown> | undefined) => {
    if (!options) throw new UsageError(`${provider?.title ?? name} ${lack}`, `Leave ${flag} out.`);
    const twice = Object.keys(options).find((field) => Object.hasOwn(ownOptions, field));
    if (twice !== undefined)
      throw new UsageError(
        `${flag} sets ${JSON.stringify(twice)} at ${provider?.title}, and --set or the setting \`set\` does, too`,
        "Give one of them.",
      );
    Object.assign(all, options);
  };
  const listDomains = (flag: string, list: string | undefined) =>
    [...new Set(parseDomains(flag, list).map((domain) => domain.replace(/^www\./, "")))].sort();
  if (window !== undefined)
    add("--window", "does not offer a lower price for a later result", provider?.windowOptions?.(window));
  if (domains !== undefined || notDomains !== undefined)
    add(
      domains === undefined ? "--not-domains" : "--domains",
      "cannot restrict the search to domains",
      provider?.buildDomainOptions?.(
        listDomains("--domains", domains),
        listDomains("--not-domains", notDomains),
      ),
    );
  return all;
}

/** Parses the setting `set`: a JSON object, or a single `NAME=VALUE`. Throws UsageError. */
export function parseSetOptions(text: string | undefined): Record<string, unknown> {
  if (text === undefined) return {};
  const value = tryParseExact(text);
  return isObject(value) ? copyWithExactMembers(value) : Object.fromEntries([parseSetOption(text)]);
}

function parseSetOption(text: string): [string, unknown] {
  const at = text.indexOf("=");
  const name = text.slice(0, Math.max(at, 0));
  if (!/^[A-Za-z_][A-Za-z0-9_-]*$/.test(name))
    throw new UsageError(
      `invalid value for --set: ${JSON.stringify(text)}`,
      "Write NAME=VALUE; NAME is a field of the provider's own request, VALUE is JSON or text.",
    );
  const value = text.slice(at + 1);
  const parsed = tryParseExact(value);
  if (parsed === undefined) return [name, value];
  if (typeof parsed === "number" && !Number.isFinite(parsed))
    throw new UsageError(
      `invalid value for --set: ${value} is larger than any number that a program can hold`,
    );
  return [name, parseExactValue(value)];
}

/** Throws UsageError, with the place of the mistake, for an invalid schema. `what`: how the message names the schema. */
export async function requireValidSchema(
  schema: unknown,
  what: string,
  signal?: AbortSignal,
): Promise<JsonSchema> {
  if (!isObject(schema)) throw new UsageError(`${what} is an invalid JSON Schema: it must be a JSON object`);
  const { checkSchema, describeProblem } = await import("../core/json-schema/check-in-thread.js");
  const problem = await checkSchema(schema, signal);
  if (problem)
    throw new UsageError(`${what} is an invalid JSON Schema: ${describeProblem(problem, "the top level")}`);
  return schema;
}

/** Builds the body of a create call from another program's prompt and schema. Throws UsageError if `research create` would refuse them. */
export async function buildCheckedBody(
  prompt: string,
  schema: JsonSchema | undefined,
  signal?: AbortSignal,
): Promise<CreateBody> {
  if (typeof prompt !== "string" || prompt.trim() === "") throw new UsageError("the prompt is blank");
  checkTextSize(prompt, "the prompt");
  if (schema !== undefined) await requireValidSchema(schema, "the schema", signal);
  return buildRequestBody(prompt, schema, false);
}
