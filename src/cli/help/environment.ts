import { PROVIDERS } from "../../dialects/providers.js";

/** An environment variable that the program reads, or sets for a command that it starts. */
export interface Variable {
  name: string;
  description: string;
  /** The long flag that says the same and beats it. */
  flag?: string;
  /** The commands that read it; all of them if this is missing. */
  commands?: readonly string[];
}

const SERVE = ["serve", "serve keys add", "serve keys list", "serve keys revoke"];

/** Every variable, in the order in which help lists them (contract §2, §4). */
export const VARIABLES: readonly Variable[] = [
  { name: "RESEARCH_BASE_URL", description: "the service to speak to", flag: "--base-url" },
  { name: "RESEARCH_API_KEY", description: "the API key; no flag takes a key" },
  { name: "RESEARCH_API_KEY_FILE", description: "a file that holds the API key" },
  { name: "RESEARCH_PROVIDER", description: "the provider to speak to; research: the interface itself" },
  ...PROVIDERS.map(({ keyVariable, title }) => ({
    name: keyVariable,
    description: `a key of ${title}, used last and at its own origin only`,
  })),
  { name: "RESEARCH_PROFILE", description: "the profile to use", flag: "--profile" },
  {
    name: "RESEARCH_OUTPUT",
    description: "json: as --json, but not for help; human, the default",
    flag: "--json",
  },
  { name: "RESEARCH_CONFIG_DIR", description: "the folder of the settings, an absolute path" },
  { name: "RESEARCH_STATE_DIR", description: "the folder of the history, an absolute path" },
  { name: "RESEARCH_NO_HISTORY", description: "1: keep no history" },
  {
    name: "RESEARCH_INSECURE_HTTP",
    description: "1: allow plain http:// to another machine",
    flag: "--insecure-http",
  },
  { name: "HTTPS_PROXY", description: "the proxy for https://, in either case; loopback is never proxied" },
  { name: "HTTP_PROXY", description: "the proxy for http://, in either case" },
  { name: "NO_PROXY", description: "hosts that are reached without a proxy, in either case" },
  { name: "NODE_EXTRA_CA_CERTS", description: "a file of certificates to trust as well" },
  { name: "NO_COLOR", description: "set: no colour" },
  {
    name: "FORCE_COLOR",
    description: "set: colour without a terminal, too; a result never has colour by it",
  },
  { name: "CI", description: "set: no colour and nothing that moves" },
  { name: "TERM", description: "dumb: no colour and nothing that moves" },
  { name: "BROWSER", description: "the program that --web opens a page with" },
  { name: "RESEARCH_SERVE_API_KEY", description: "the key to ask for", commands: ["serve"] },
  {
    name: "RESEARCH_SERVE_DATABASE",
    description: "the PostgreSQL database to share",
    flag: "--database",
    commands: SERVE,
  },
  {
    name: "RESEARCH_SERVE_METRICS_TOKEN",
    description: "the token that GET /metrics asks for",
    commands: ["serve"],
  },
  {
    name: "RESEARCH_MODEL_API_KEY",
    description: "the key of the model's endpoint",
    commands: ["serve", "try"],
  },
  {
    name: "RESEARCH_MODEL_API_KEY_FILE",
    description: "a file that holds the key of the model's endpoint",
    commands: ["serve", "try"],
  },
  {
    name: "RESEARCH_SEARCH_API_KEY",
    description: "the key of the search engine",
    commands: ["serve", "try"],
  },
  {
    name: "RESEARCH_SEARCH_API_KEY_FILE",
    description: "a file that holds the key of the search engine",
    commands: ["serve", "try"],
  },
];

/** The variable that stands for a flag of a command; undefined if there is none. */
export function variableOf(flag: string | undefined, command: string): string | undefined {
  return VARIABLES.find(
    (variable) =>
      variable.flag === flag && (variable.commands?.includes(command) ?? true) && flag !== undefined,
  )?.name;
}
