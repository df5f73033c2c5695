import type { CreateBody, Data } from "../../core/protocol/conversation.js";
import { type Dialect, type DialectRequest, InputError } from "./dialect.js";

/** A provider that the client can use directly. Its dialect is loaded on demand. */
export interface Provider {
  /** The name for `--provider`. */
  name: string;
  /** The name that messages show. */
  title: string;
  baseUrl: string;
  /** The environment variable in which the provider's own tools expect a key; read only for the provider's own origin. */
  keyVariable: string;
  /** A second environment variable for the key, read if the first is not set. */
  otherKeyVariable?: string;
  /** The provider's word for what `--model` selects. */
  modelWord: string;
  /** The model of a request without `--model`. Providers retire models every few months: update it here. */
  defaultModel: string;
  /** Options that a request with the default model needs: without them, the model answers without research. */
  defaultOptions?: Readonly<Record<string, unknown>>;
  /** The version at the start of the provider's paths, then other versions that a base URL may end with; absent if paths have no version. */
  versions?: readonly [defaultVersion: string, ...otherVersions: string[]];
  /** The form of the provider's request ids. */
  idForm: RegExp;
  /** Whether the provider never reports how long a limit lasts, so that its dialect assumes a few seconds. */
  guessesWaits?: true;
  /** Whether answers include the cost of a request in dollars. */
  saysDollars?: true;
  /** The field of an answer with the id that a follow-up needs; absent if a follow-up takes the request's own id. */
  followUpField?: "interaction_id";
  /** Builds options that restrict the search to the domains `only` and exclude `not`; either may be empty. Absent if the provider has none. */
  buildDomainOptions?(only: readonly string[], not: readonly string[]): Record<string, unknown>;
  /** Builds options that lower the price if the result may take as long as `window`. Absent if the provider has no such price. */
  windowOptions?(window: string): Record<string, unknown>;
  load(defaultModel: string): Promise<Dialect>;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-/;

export const PROVIDERS: readonly Provider[] = [
  {
    name: "openai",
    title: "OpenAI",
    baseUrl: "https://api.openai.com",
    keyVariable: "OPENAI_API_KEY",
    modelWord: "model",
    defaultModel: "gpt-6.2-sol",
    defaultOptions: { reasoning: { effort: "high" } },
    versions: ["/v1"],
    idForm: /^resp_/,
    buildDomainOptions(only, not) {
      if (not.length > 0) throw new InputError("OpenAI cannot exclude domains", "Leave out --not-domains.");
      return { tools: [{ type: "web_search", filters: { allowed_domains: only } }] };
    },
    windowOptions: (window) => ({ background_options: { completion_window: window } }),
    load: async (model) => (await import("./openai.js")).createOpenaiDialect(model),
  },
  {
    name: "perplexity",
    title: "Perplexity",
    baseUrl: "https://api.perplexity.ai",
    keyVariable: "PERPLEXITY_API_KEY",
    modelWord: "preset, or x/model",
    defaultModel: "high",
    versions: ["/v1"],
    idForm: new RegExp(`^resp_|${UUID.source}`),
    saysDollars: true,
    buildDomainOptions(only, not) {
      const search_domain_filter = [...only, ...not.map((domain) => `-${domain}`)];
      return { tools: [{ type: "web_search", filters: { search_domain_filter } }] };
    },
    load: async (model) => (await import("./perplexity.js")).createPerplexityDialect(model),
  },
  {
    name: "exa",
    title: "Exa",
    baseUrl: "https://api.exa.ai",
    keyVariable: "EXA_API_KEY",
    modelWord: "effort",
    defaultModel: "medium",
    idForm: /^agent_run_/,
    guessesWaits: true,
    saysDollars: true,
    load: async (model) => (await import("./exa.js")).createExaDialect(model),
  },
  {
    name: "parallel",
    title: "Parallel",
    baseUrl: "https://api.parallel.ai",
    keyVariable: "PARALLEL_API_KEY",
    modelWord: "processor",
    defaultModel: "pro",
    versions: ["/v1"],
    idForm: /^trun_/,
    followUpField: "interaction_id",
    buildDomainOptions: (only, not) => ({ source_policy: buildDomainFields(only, not) }),
    load: async (model) => (await import("./parallel.js")).createParallelDialect(model),
  },
  {
    name: "gemini",
    title: "Gemini",
    baseUrl: "https://generativelanguage.googleapis.com",
    keyVariable: "GEMINI_API_KEY",
    otherKeyVariable: "GOOGLE_API_KEY",
    modelWord: "agent",
    defaultModel: "deep-research-preview-04-2026",
    versions: ["/v1beta", "/v1"],
    idForm: /^v1_/,
    load: async (model) => (await import("./gemini.js")).createGeminiDialect(model),
  },
  {
    name: "tavily",
    title: "Tavily",
    baseUrl: "https://api.tavily.com",
    keyVariable: "TAVILY_API_KEY",
    modelWord: "model",
    defaultModel: "mini",
    idForm: UUID,
    buildDomainOptions: buildDomainFields,
    load: async (model) => (await import("./tavily.js")).createTavilyDialect(model),
  },
];

function buildDomainFields(only: readonly string[], not: readonly string[]) {
  return {
    ...(only.length > 0 && { include_domains: only }),
    ...(not.length > 0 && { exclude_domains: not }),
  };
}

/** The value of `--provider` for the research interface itself. */
export const INTERFACE = "research";

/** Finds a provider by name; undefined for the interface itself and for an unknown name. */
export function findProvider(name: string): Provider | undefined {
  return PROVIDERS.find((provider) => provider.name === name);
}

/** The valid values of `--provider`. */
export const PROVIDER_NAMES: readonly string[] = [INTERFACE, ...PROVIDERS.map(({ name }) => name)];

/** Lists the providers whose ids have the form of `requestId`; empty if the ids of the service `name` have this form, too. */
export function listProvidersOfId(requestId: string, name: string): Provider[] {
  const owners = PROVIDERS.filter(({ idForm }) => idForm.test(requestId));
  const isOwn = name === INTERFACE ? UUID.test(requestId) : owners.some((owner) => owner.name === name);
  return isOwn ? [] : owners;
}

/** Splits the path of a base URL into the base path and the version at its end, if the service `name` has that version. Also returns the default version. */
export function splitBasePath({ pathname }: URL, name: string) {
  const path = pathname.replace(/\/+$/, "");
  const versions = name === INTERFACE ? ["/api/v1"] : (findProvider(name)?.versions ?? []);
  const version = versions.find((candidate) => path.endsWith(candidate));
  return {
    basePath: version ? path.slice(0, -version.length) : path,
    version,
    defaultVersion: versions[0] ?? "",
  };
}

/**
 * Returns a request of the service `name` with its path below that of a base URL. A default version at the end of the
 * base URL is not repeated. Another version there replaces ours, and the headers of our version are dropped.
 */
export function buildRequestBelow(
  base: URL,
  name: string,
  { headers, ...request }: DialectRequest,
): DialectRequest {
  const { basePath, version, defaultVersion } = splitBasePath(base, name);
  if (version === undefined || version === defaultVersion)
    return { ...request, ...(headers && { headers }), path: basePath + request.path };
  return { ...request, path: basePath + version + request.path.slice(defaultVersion.length) };
}

/** Adds the provider's default model and default options to the body of a create call; returns a body that names a model unchanged. */
export function addProviderDefaults(
  provider: Pick<Provider, "defaultModel" | "defaultOptions"> | undefined,
  body: CreateBody,
): CreateBody {
  if (!provider || body.model !== undefined) return body;
  const options = { ...provider.defaultOptions, ...body.options };
  return { ...body, model: provider.defaultModel, ...(Object.keys(options).length > 0 && { options }) };
}

/** Matches the providers' words for a model. */
const MODEL = "(?:model|preset|processor|effort|agent|deployment)";
const WRONG = "(?:invalid|unknown|unsupported|unrecogni[sz]ed)";
/** Matches codes such as `model_not_found`, `unsupported_model`, `DeploymentNotFound`. */
const MODEL_CODE = new RegExp(
  `${MODEL}_?(?:is_?)?(?:not_?(?:found|available|supported|allowed)|deprecated|retired|${WRONG})|${WRONG}_?${MODEL}`,
  "i",
);
const ENDED =
  "(?:not found|not exist|no longer|not supported|not available|unavailable|deprecated|retired|discontinued|shut down)";
/** Matches messages such as `no such model`, `model x does not exist`, `x is not a valid preset`, `model x is invalid`, `no access to the model`. */
const MODEL_TEXT = new RegExp(
  [
    `\\b(?:${WRONG}|no such|not an? (?:valid|known|supported|available)|no access to(?: (?:the|this))?|not have access to(?: (?:the|this))?) ${MODEL}\\b`,
    `\\b${MODEL}\\b(?:[^.,;]|\\.\\S){0,80}${ENDED}`,
    `\\b${MODEL}:? \\S+ (?:(?:is|was) )?(?:${WRONG}|not (?:a )?(?:valid|known|recogni[sz]ed|supported))`,
  ].join("|"),
  "i",
);

/**
 * Returns whether a service refused a create call because of an unknown or retired model. Then the account's settings are
 * wrong, not the question.
 */
export function isModelRefusal({ code, message }: { code: string; message: string }): boolean {
  return MODEL_CODE.test(code) || (MODEL_TEXT.test(message) && !/schema/i.test(message));
}

/** Returns a hint if `origin` is a provider's, but the dialect in use is the interface's; else undefined. */
export function suggestProvider(origin: string, dialectName: string): string | undefined {
  const provider = dialectName === INTERFACE && PROVIDERS.find(({ baseUrl }) => baseUrl === origin);
  if (!provider) return undefined;
  const { name, title } = provider;
  return `This is ${title}'s own address: did you mean --provider ${name}? \`research login ${name}\` stores it; in CI set RESEARCH_PROVIDER=${name}.`;
}

/** Returns a hint if the model `modelName` (undefined: the default) does not exist; undefined if the service's message is enough. */
export function suggestModel(
  { defaultModel, title }: Pick<Provider, "defaultModel" | "title">,
  modelName: string | undefined,
  code: string,
): string | undefined {
  if (modelName === undefined)
    return `${defaultModel} is this version's default for ${title}; name another with --model, or research config set model NAME`;
  return code === "DeploymentNotFound"
    ? "Pass --model with the name of a deployment of that resource."
    : undefined;
}

/** Returns whether a FAILED request was paid for although its result is incomplete or missing. */
export function isResultCutShort(data: Data): boolean {
  const { status, provider_status: word } = data;
  const isPart = status === "FAILED" && ["incomplete", "budget_exceeded"].includes(String(word));
  return isPart || hasNoResult(data);
}

/** Returns whether the provider reported the request as completed without a result; `buildAnswerData` turns that into FAILED. */
export function hasNoResult({ status, provider_status }: Data): boolean {
  return status === "FAILED" && provider_status === "completed";
}

/** Returns whether `null` in the result means that nothing was found; only runs of Exa use it so. */
export function hasNullForNothingFound({ object, provider_status }: Data): boolean {
  return provider_status !== undefined && object === "agent_run";
}

/** Returns whether a request waits for a person to act at the provider. */
export function isWaitingForPerson({ provider_status }: Data): boolean {
  return ["requires_action", "action_required", "requires_continuation"].includes(String(provider_status));
}
