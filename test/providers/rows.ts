import type { Dialect } from "../../src/client/dialects/dialect.js";
import { findProvider } from "../../src/client/dialects/providers.js";
import * as does from "../support/behaviours.js";
import { type FaultServerOptions, REFUSED_URL } from "../support/fault-server.js";
import type { ProviderName } from "../support/providers/bodies.js";

export const NAMES: ProviderName[] = ["openai", "perplexity", "exa", "parallel", "gemini", "tavily"];
const DIALECTS = new Map<string, Dialect>();
for (const name of NAMES) {
  const provider = findProvider(name);
  if (provider) DIALECTS.set(name, await provider.load(provider.defaultModel));
}
/** How a provider is spoken to. */
export const dialectOf = (name: ProviderName) => DIALECTS.get(name) as Dialect;
/** The body of an error in a form that every provider reads. */
export const saying = (message: string, code = "") =>
  JSON.stringify({
    ...{ type: "error", error: { message, type: code && "t", code, ref_id: "r", detail: null } },
    detail: { error: message },
  });
/** Such an error. */
export const serviceError = (status: number) => does.answer({ status, body: saying("no", "c") });
const { answer, html } = does;

/** What a create meets, and the exit code that follows at every provider. */
export const FAULTS: [what: string, behaviour: does.Behaviour, exit: number, lasts?: "lasts"][] = [
  ["reset while sending", does.reset("head"), 11],
  ["reset after the body", does.reset("body"), 11],
  ["closed after the body", does.close(), 11],
  ["no answer", does.hang(), 11, "lasts"],
  ["a drip of headers", does.drip({ body: "{}" }, 1_000, "head"), 11, "lasts"],
  ["a drip of the body", does.drip({ body: "{}" }, 1_000, "body"), 11, "lasts"],
  ["no HTTP", does.raw("220 smtp ready\r\n"), 11],
  ["200 and nothing", answer({}), 11],
  ["200 HTML", html(200), 11],
  ["200 no JSON", answer({ body: "ok" }), 11],
  ["200 an array", answer({ body: "[]" }), 11],
  ["200 without an id", answer({ body: '{"status":"queued"}' }), 11],
  [
    "200 with an invalid id",
    answer({ body: '{"id":"../x","run_id":"../x","request_id":"../x","status":"queued"}' }),
    11,
  ],
  ["huge", does.huge(), 11],
  ["nested", does.nested(), 11],
  ...[408, 409, 425, 499].flatMap((status): [string, does.Behaviour, number][] => [
    [`${status} bare`, html(status), 11],
    [`${status} in its own words`, serviceError(status), 11],
  ]),
  ...[500, 502, 503, 504].flatMap((status): [string, does.Behaviour, number][] => [
    [`${status} bare`, html(status), 11],
    [`${status} in its own words`, serviceError(status), 11],
  ]),
  ["421 bare", html(421), 11],
  ["421 in its own words", serviceError(421), 6],
  ["303", does.redirect(303, "http://127.0.0.2:9/"), 11],
  ["302", does.redirect(302, "http://127.0.0.2:9/"), 9],
  ["400", serviceError(400), 2],
  ["404", serviceError(404), 2],
  ["422", serviceError(422), 2],
  ["401", serviceError(401), 4],
  ["403", serviceError(403), 4],
  ["402", serviceError(402), 6],
  ["402 bare", html(402), 6],
  ["432 bare", html(432), 6],
  ["433", serviceError(433), 6],
  ["429", serviceError(429), 7],
  ["410 in its own words", serviceError(410), 6],
  ["410 bare", html(410), 9],
  ["413", html(413), 2],
];

/** What keeps a request from being sent at all to a server with these options. Each is 9. */
export const NEVER_SENT: [what: string, baseUrl: (port: number) => string, server: FaultServerOptions][] = [
  ["refused", () => REFUSED_URL, {}],
  ["TLS to what speaks none", (port) => `https://127.0.0.1:${port}`, { onConnection: () => "speak-no-http" }],
  ["a certificate nobody signed", (port) => `https://127.0.0.1:${port}`, { tls: true }],
];

/** For how many milliseconds an exchange may last: short for a fault that lasts until then, and enough to connect on a busy machine. */
export const limitOf = (lasts: "lasts" | undefined) => (lasts ? 2_000 : 10_000);
