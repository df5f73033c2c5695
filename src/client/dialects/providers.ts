import type { CreateBody, Data } from "../../core/protocol/conversation.js";
import { type Dialect, type DialectRequest, InputError } from "./dialect.js";

/** A provider that is spoken to directly. Its dialect is loaded only when it is named. */
export interface Provider {
  /** As `--provider` takes it. */
  name: string;
  /** As people write it. */
  title: string;
  baseUrl: string;
  /** The variable of the provider's own tools that holds a key; used for the provider's own origin only. */
  keyVariable: string;
  /** Another one, which holds it if the first does not. */
  otherKeyVariable?: string;
  /** What `--model` names. */
  modelWord: string;
  /** The model of a create that names none. Models end every few months: this is where they are changed. */
  defaultModel: string;
  /** What a create asks of that model beside the question: it would answer otherwise, and not research. */
  defaultOptions?: Readonly<Record<string, unknown>>;
  /** What its paths begin with, then other versions that a base URL may name; absent where paths have no version. */
  versions?: readonly [own: string, ...others: string[]];
  /** The form of its ids. */
  idForm: RegExp;
  /** Whether it never says how long a limit lasts, so that its dialect guesses a few seconds. */
  guessesWaits?: true;
  /** Whether its answers say what a request has cost, in dollars. */
  saysDollars?: true;
  /** The field of an answer that a follow-up names, if that is not the request's own id. */
  followUpField?: "interaction_id";
  /** The options of a create that search these domains only, and none of those; each list may be empty. Absent if it has none. */
  buildDomainOptions?(only: readonly string[], not: readonly string[]): Record<string, unknown>;
  /** The options of a create that takes a lower price for a result within a time. Absent if it sells none. */
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
      if (not.length > 0) throw new InputError("OpenAI can leave no domains out", "Leave --not-domains out.");
      return { tools: [{ type: "web_search", filters: { allowed_domains: only } }] };
    },
    windowOptions: (window) => ({ background_options: { completion_window: window } }),
    load: async (model) => (await import("./openai.js")).createOpenai(model),
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
    load: async (model) => (await import("./perplexity.js")).createPerplexity(model),
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
    load: async (model) => (await import("./exa.js")).createExa(model),
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
    load: async (model) => (await import("./parallel.js")).createParallel(model),
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
    load: async (model) => (await import("./gemini.js")).createGemini(model),
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
    load: async (model) => (await import("./tavily.js")).createTavily(model),
  },
];

function buildDomainFields(only: readonly string[], not: readonly string[]) {
  return {
    ...(only.length > 0 && { include_domains: only }),
    ...(not.length > 0 && { exclude_domains: not }),
  };
}

/** The name that stands for the interface itself. */
export const INTERFACE = "research";

/** The provider of that name; undefined for the interface itself and for an unknown name. */
export function findProvider(name: string): Provider | undefined {
  return PROVIDERS.find((provider) => provider.name === name);
}

/** The names that `--provider` takes. */
export const PROVIDER_NAMES: readonly string[] = [INTERFACE, ...PROVIDERS.map(({ name }) => name)];

/** The providers whose ids have the form of this one, if the service `name` has ids of another form; else none. */
export function listOwnersOfId(requestId: string, name: string): Provider[] {
  const owners = PROVIDERS.filter(({ idForm }) => idForm.test(requestId));
  const isOwn = name === INTERFACE ? UUID.test(requestId) : owners.some((owner) => owner.name === name);
  return isOwn ? [] : owners;
}

/** The path of a base URL without a version that the service `name` has, and that version. */
export function splitBasePath({ pathname }: URL, name: string) {
  const path = pathname.replace(/\/+$/, "");
  const versions = name === INTERFACE ? ["/api/v1"] : (findProvider(name)?.versions ?? []);
  const version = versions.find((candidate) => path.endsWith(candidate));
  return { basePath: version ? path.slice(0, -version.length) : path, version, own: versions[0] ?? "" };
}

/**
 * A request of the service `name` below a base URL. The version that paths begin with is not repeated if the URL ends
 * with it; another version takes its place, without the headers that go with the first one.
 */
export function buildRequestBelow(
  base: URL,
  name: string,
  { headers, ...request }: DialectRequest,
): DialectRequest {
  const { basePath, version, own: rest } = splitBasePath(base, name);
  if (version === undefined || version === rest)
    return { ...request, ...(headers && { headers }), path: basePath + request.path };
  return { ...request, path: basePath + version + request.path.slice(rest.length) };
}

/** A create with what a provider asks of its default model; unchanged if it names a model. */
export function addDefaults(
  provider: Pick<Provider, "defaultModel" | "defaultOptions"> | undefined,
  body: CreateBody,
): CreateBody {
  if (!provider || body.model !== undefined) return body;
  const options = { ...provider.defaultOptions, ...body.options };
  return { ...body, model: provider.defaultModel, ...(Object.keys(options).length > 0 && { options }) };
}

/** What a provider calls a model. */
const MODEL = "(?:model|preset|processor|effort|agent|deployment)";
const WRONG = "(?:invalid|unknown|unsupported|unrecogni[sz]ed)";
/** `model_not_found`, `unsupported_model`, `DeploymentNotFound`. */
const MODEL_CODE = new RegExp(
  `${MODEL}_?(?:is_?)?(?:not_?(?:found|available|supported|allowed)|deprecated|retired|${WRONG})|${WRONG}_?${MODEL}`,
  "i",
);
const ENDED =
  "(?:not found|not exist|no longer|not supported|not available|unavailable|deprecated|retired|discontinued|shut down)";
/** `no such model`, `the model x does not exist`, `x is not a valid preset`, `model x is invalid`, `no access to the model`. */
const MODEL_TEXT = new RegExp(
  [
    `\\b(?:${WRONG}|no such|not an? (?:valid|known|supported|available)|no access to(?: (?:the|this))?|not have access to(?: (?:the|this))?) ${MODEL}\\b`,
    `\\b${MODEL}\\b(?:[^.,;]|\\.\\S){0,80}${ENDED}`,
    `\\b${MODEL}:? \\S+ (?:(?:is|was) )?(?:${WRONG}|not (?:a )?(?:valid|known|recogni[sz]ed|supported))`,
  ].join("|"),
  "i",
);

/** Returns whether a service refuses a create for its model, which an account chose and not the question: it has no such one, or no more. */
export function isAboutModel({ code, message }: { code: string; message: string }): boolean {
  return MODEL_CODE.test(code) || (MODEL_TEXT.test(message) && !/schema/i.test(message));
}

/** What to do about a provider's own address that is spoken to as if it had the interface; undefined if it is not. */
export function findProviderMeant(origin: string, spoken: string): string | undefined {
  const meant = spoken === INTERFACE && PROVIDERS.find(({ baseUrl }) => baseUrl === origin);
  if (!meant) return undefined;
  const { name, title } = meant;
  return `This is ${title}'s own address: did you mean --provider ${name}? \`research login ${name}\` stores it; in CI set RESEARCH_PROVIDER=${name}.`;
}

/** What to do about a model that a service does not have: `named`, or the default. Undefined if its words say enough. */
export function hintMissingModel(
  { defaultModel, title }: Pick<Provider, "defaultModel" | "title">,
  named: string | undefined,
  code: string,
): string | undefined {
  if (named === undefined)
    return `${defaultModel} is this version's default for ${title}; name another with --model, or research config set model NAME`;
  return code === "DeploymentNotFound"
    ? "--model takes the name of a deployment of that resource."
    : undefined;
}

/** Returns whether a FAILED state was paid for all the same: a part of its result is missing, or all of it. */
export function isCutShort(data: Data): boolean {
  const { status, provider_status: word } = data;
  const isPart = status === "FAILED" && ["incomplete", "budget_exceeded"].includes(String(word));
  return isPart || hasNoResult(data);
}

/** Returns whether a provider says "completed" of a request and gives no result: see `answerData`. */
export function hasNoResult({ status, provider_status }: Data): boolean {
  return status === "FAILED" && provider_status === "completed";
}

/** Returns whether a `null` in its result stands for what was not found, as in a run of Exa's. */
export function hasNullForNothingFound({ object, provider_status }: Data): boolean {
  return provider_status !== undefined && object === "agent_run";
}

/** Returns whether a request goes on only if somebody does something at the provider. */
export function isWaitingForPerson({ provider_status }: Data): boolean {
  return ["requires_action", "action_required", "requires_continuation"].includes(String(provider_status));
}
