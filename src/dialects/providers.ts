import type { Data } from "../protocol/conversation.js";
import type { Dialect } from "./dialect.js";

/** A provider that is spoken to directly. Its dialect is loaded only when it is named. */
export interface Provider {
  /** As `--provider` takes it. */
  name: string;
  /** As people write it. */
  title: string;
  baseUrl: string;
  /** The variable of the provider's own tools that holds a key; used for the provider's own origin only. */
  keyVariable: string;
  /** What `--model` names. */
  modelWord: string;
  /** The model of a create that names none. Models end every few months: this is where they are changed. */
  defaultModel: string;
  /** The field of an answer that a follow-up names, if that is not the request's own id. */
  followUpField?: "interaction_id";
  load(defaultModel: string): Promise<Dialect>;
}

export const PROVIDERS: readonly Provider[] = [
  {
    name: "openai",
    title: "OpenAI",
    baseUrl: "https://api.openai.com",
    keyVariable: "OPENAI_API_KEY",
    modelWord: "model",
    defaultModel: "gpt-6.1-sol",
    load: async (model) => (await import("./responses.js")).openai(model),
  },
  {
    name: "perplexity",
    title: "Perplexity",
    baseUrl: "https://api.perplexity.ai",
    keyVariable: "PERPLEXITY_API_KEY",
    modelWord: "preset, or model with a `/`",
    defaultModel: "deep-research",
    load: async (model) => (await import("./responses.js")).perplexity(model),
  },
  {
    name: "exa",
    title: "Exa",
    baseUrl: "https://api.exa.ai",
    keyVariable: "EXA_API_KEY",
    modelWord: "effort",
    defaultModel: "auto",
    load: async (model) => (await import("./exa.js")).exa(model),
  },
  {
    name: "parallel",
    title: "Parallel",
    baseUrl: "https://api.parallel.ai",
    keyVariable: "PARALLEL_API_KEY",
    modelWord: "processor",
    defaultModel: "pro",
    followUpField: "interaction_id",
    load: async (model) => (await import("./parallel.js")).parallel(model),
  },
];

/** The name that stands for the interface itself. */
export const INTERFACE = "research";

/** The provider of that name; undefined for the interface itself and for an unknown name. */
export function providerNamed(name: string): Provider | undefined {
  return PROVIDERS.find((provider) => provider.name === name);
}

/** The names that `--provider` takes. */
export const PROVIDER_NAMES: readonly string[] = [INTERFACE, ...PROVIDERS.map(({ name }) => name)];

/** Whether a FAILED state has a result all the same, of which a part is missing. */
export function isCutShort({ status, provider_status }: Data): boolean {
  return status === "FAILED" && ["incomplete", "budget_exceeded"].includes(String(provider_status));
}

/** Whether a request goes on only if somebody does something at the provider. */
export function waitsForSomebody({ provider_status }: Data): boolean {
  return ["requires_action", "action_required", "requires_continuation"].includes(String(provider_status));
}
