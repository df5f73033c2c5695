import { PROVIDERS } from "../../client/dialects/providers.js";

/** The meaning of every exit code (contract §1.5), for the help and the reference. For a signal, the code that a shell shows. */
export const EXIT_CODE_MEANINGS: Readonly<Record<string, string>> = {
  0: "done; for `watch` and `run`: COMPLETED",
  1: "a defect of this program, or something unforeseen",
  2: "bad input: usage, a blank prompt, an invalid schema, no base URL configured, `VALIDATION_ERROR`; a request that a provider does not support, or answers with 400, 404 or 422; if this program found the error, nothing was sent",
  3: "the research ended FAILED, or a provider's ended without a result (`NO_RESULT`)",
  4: "not authenticated: no key, `INVALID_API_KEY`, any other 401 or 403",
  5: "not found: `REQUEST_NOT_FOUND`, any other 404 (2 if a provider answers a create with it); `@last` with an empty history",
  6: "refused: not allowed in this state, refused by the service, or no money left at a provider; nothing was created",
  7: "rate limited; `DAY_LIMIT`: your own `per-day` limit, `BUDGET`: a budget of the service",
  8: "not finished yet: `watch --timeout` reached, `output` asked too early",
  9: "the service could not be reached, or its answer could not be read; nothing was created",
  10: "the research ended STOPPED",
  11: "`create`: outcome unknown; no readable answer came back, and the request may or may not exist",
  12: "this machine: a file could not be read or written, or exists already",
  13: "`--strict`: the result does not fit its schema",
  14: "`check`: a source does not say what a sentence says, contradicts it, or is gone",
  15: "`diff`: the two results differ in substance",
  "130, 143, 129": "ended by SIGINT, SIGTERM or SIGHUP, after printing how to resume",
};

/** An environment variable that the program reads. */
export interface Variable {
  name: string;
  description: string;
  /** The long flag that takes precedence; null without one. */
  flag: string | null;
  /** The commands that read the variable; null if all do. */
  commands: readonly string[] | null;
}

const KEYS = ["serve", ...["add", "set", "list", "spent", "revoke"].map((verb) => `serve keys ${verb}`)];
const MODEL = ["serve", "try"];
const CHECKS = ["check", "run", "batch", "compare"];

/** Every variable, in the order of the help (contract §2, §4). */
export const VARIABLES: readonly Variable[] = [
  defineVariable("RESEARCH_BASE_URL", "the base URL of the service", "--base-url"),
  defineVariable("RESEARCH_API_KEY", "the API key; no flag takes a key"),
  defineVariable("RESEARCH_API_KEY_FILE", "a file that holds the API key"),
  defineVariable("RESEARCH_PROVIDER", "the provider; research: your own service"),
  ...PROVIDERS.flatMap(({ keyVariable, otherKeyVariable, title }) =>
    [keyVariable, otherKeyVariable ?? []]
      .flat()
      .map((name) =>
        defineVariable(name, `a key of ${title}, used if there is no other, and only at its own origin`),
      ),
  ),
  defineVariable("RESEARCH_PROFILE", "the profile to use", "--profile"),
  defineVariable("RESEARCH_OUTPUT", "json: as --json, but not for help; human, the default", "--json"),
  defineVariable("RESEARCH_CONFIG_DIR", "the folder of the settings, an absolute path"),
  defineVariable("RESEARCH_STATE_DIR", "the folder of the history, an absolute path"),
  defineVariable("RESEARCH_NO_HISTORY", "1: keep no history"),
  defineVariable(
    "RESEARCH_PER_DAY",
    "creates allowed in 24 hours; the smallest of variable, flag and profile applies",
  ),
  defineVariable("RESEARCH_INSECURE_HTTP", "1: allow plain http:// to another machine", "--insecure-http"),
  defineVariable("HTTPS_PROXY", "the proxy for https://, in either case; loopback is never proxied"),
  defineVariable("HTTP_PROXY", "the proxy for http://, in either case"),
  defineVariable("NO_PROXY", "hosts that are reached without a proxy, in either case"),
  defineVariable("NODE_EXTRA_CA_CERTS", "a file of certificates to trust as well"),
  defineVariable("NO_COLOR", "set: no colour"),
  defineVariable("FORCE_COLOR", "set: colour without a terminal, too, but not in a result"),
  defineVariable("CI", "set: no colour and nothing that moves"),
  defineVariable("TERM", "dumb: no colour and nothing that moves"),
  defineVariable("BROWSER", "the program that --web opens a page with"),
  defineVariable("RESEARCH_SERVE_API_KEY", "the key that clients must send", null, ["serve"]),
  defineVariable("RESEARCH_SERVE_DATABASE", "the PostgreSQL database to share", "--database", KEYS),
  defineVariable("RESEARCH_SERVE_METRICS_TOKEN", "the token that GET /metrics requires", null, ["serve"]),
  defineVariable("RESEARCH_UPSTREAM_API_KEY", "the key of the profile that --upstream names", null, [
    "serve",
  ]),
  defineVariable("RESEARCH_UPSTREAM_API_KEY_FILE", "a file that holds the key of --upstream", null, [
    "serve",
  ]),
  // Do not name the flag --model: that of run, batch and compare sets the provider's model.
  defineVariable(
    "RESEARCH_MODEL_NAME",
    "the model that judges citations, like --model of check",
    null,
    CHECKS,
  ),
  defineVariable(
    "RESEARCH_MODEL_URL",
    "the model's OpenAI-compatible endpoint, like --model-url of check",
    null,
    CHECKS,
  ),
  defineVariable("RESEARCH_MODEL_API_KEY", "the key of the model's endpoint", null, [...MODEL, ...CHECKS]),
  defineVariable("RESEARCH_MODEL_API_KEY_FILE", "a file that holds the key of the model's endpoint", null, [
    ...MODEL,
    ...CHECKS,
  ]),
  defineVariable("RESEARCH_SEARCH_API_KEY", "the key of the search engine", null, MODEL),
  defineVariable(
    "RESEARCH_SEARCH_API_KEY_FILE",
    "a file that holds the key of the search engine",
    null,
    MODEL,
  ),
];

function defineVariable(
  name: string,
  description: string,
  flag: string | null = null,
  commands: readonly string[] | null = null,
): Variable {
  return { name, description, flag, commands };
}

/** Finds the variable that sets the same as a flag of a command; null if there is none. */
export function findVariable(flag: string, command: string): string | null {
  const isSetSame = (variable: Variable) =>
    variable.flag === flag && (variable.commands?.includes(command) ?? true);
  return VARIABLES.find(isSetSame)?.name ?? null;
}
