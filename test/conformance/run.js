#!/usr/bin/env node
import { parseArgs } from "node:util";
import { create, status } from "./http.js";
import { INTERFACE } from "./interface.js";
import { LIMITED } from "./limits.js";
import { LOCAL } from "./local.js";

const USAGE = `Usage: RESEARCH_API_KEY=... npm run conformance -- --base-url URL [options]

Checks an implementation of the interface over HTTP. Without further options only what the interface document
shows is checked, with about ten creates.

  --base-url URL        the service, RESEARCH_BASE_URL by default
  --status-method VERB  of the status operation (GET)
  --patience SECONDS    how long a conversation may take to complete (600), and an answer at most (30)
  --lasting PROMPT      a prompt that is researched until it is stopped
  --failing PROMPT      a prompt whose research fails
  --local               also what \`research serve\` does beyond the document (needs --lasting and --failing)
  --tier free|pro       also uses up the limits of an hour of this tier

The key comes from RESEARCH_API_KEY alone.
`;

const DEFAULTS = { "status-method": "GET", patience: "600" };

/**
 * What cannot be read as options asks for the usage, as what is missing does.
 *
 * @returns {{ "base-url"?: string, lasting?: string, failing?: string, local?: boolean, tier?: string, help?: boolean }
 *   & Partial<typeof DEFAULTS>}
 */
function parse() {
  try {
    return parseArgs({
      options: {
        "base-url": { type: "string" },
        "status-method": { type: "string" },
        patience: { type: "string" },
        lasting: { type: "string" },
        failing: { type: "string" },
        local: { type: "boolean" },
        tier: { type: "string" },
        help: { type: "boolean" },
      },
    }).values;
  } catch {
    return { "base-url": "" };
  }
}

const values = { ...DEFAULTS, ...parse() };
const baseUrl = (values["base-url"] ?? process.env.RESEARCH_BASE_URL ?? "").replace(/\/+$/, "");
const key = process.env.RESEARCH_API_KEY ?? "";
const { lasting, failing } = values;
/** @type {"free" | "pro" | undefined} */
const tier = values.tier === "free" || values.tier === "pro" ? values.tier : undefined;
const incomplete = values.local === true && (lasting === undefined || failing === undefined);
const patienceMs = Number(values.patience) * 1_000;

if (values.help) process.stdout.write(USAGE);
else if (baseUrl === "" || key === "" || incomplete || tier !== values.tier || !(patienceMs > 0)) {
  process.stderr.write(USAGE);
  process.exitCode = 2;
} else {
  const target = {
    baseUrl,
    key,
    statusMethod: values["status-method"],
    patienceMs,
    silenceMs: Math.min(patienceMs, 30_000),
    ...(lasting === undefined ? {} : { lasting }),
    ...(failing === undefined ? {} : { failing }),
    ...(tier === undefined ? {} : { tier }),
  };
  const cases = { ...INTERFACE, ...(values.local ? LOCAL : {}), ...(tier === undefined ? {} : LIMITED) };
  const unusable = await unusableTarget(target);
  if (unusable === undefined) await runAll(cases, target);
  else {
    process.stderr.write(`${unusable}\n`);
    process.exitCode = 2;
  }
}

/**
 * Why nothing can be checked there, in a sentence; undefined if something can.
 *
 * @param {import("./http.js").Target} target
 */
async function unusableTarget(target) {
  const { baseUrl, key } = target;
  if (!/^https?:\/\/[^?#@]+$/.test(baseUrl) || !URL.canParse(baseUrl)) {
    return `${baseUrl} is not an http or https URL without user, query and fragment.`;
  }
  if (!/^[\x21-\x7e]+$/.test(key)) return "The key in RESEARCH_API_KEY has a character that no key may have.";
  try {
    const answer = await status(target, "00000000-0000-4000-8000-000000000000");
    if ([401, 403].includes(answer.status))
      return `${baseUrl} does not accept the key in RESEARCH_API_KEY: it answers ${answer.status}.`;
    // The interface does not show the method of status, so one answer alone tells nothing about the address.
    if (isJson(answer.text) || isJson((await create(target, {})).text)) return undefined;
    return `${baseUrl} is not the base URL of such a service: it answers ${answer.status} without JSON.`;
  } catch (error) {
    return `${baseUrl} cannot be reached: ${error instanceof Error ? error.message || "no answer" : error}.`;
  }
}

/** @param {string} text */
function isJson(text) {
  try {
    return JSON.parse(text) !== undefined;
  } catch {
    return false;
  }
}

/**
 * @param {Record<string, (target: import("./http.js").Target) => Promise<void>>} cases
 * @param {import("./http.js").Target} target
 */
async function runAll(cases, target) {
  /** @type {Set<string>} */
  const everywhere = new Set();
  let failed = 0;
  /** @type {(name: string, why: string) => void} */
  const fail = (name, why) => {
    failed += 1;
    process.stdout.write(`not ok  ${name}\n        ${why}\n`);
  };
  for (const [name, run] of Object.entries(cases)) {
    try {
      await run({ ...target, note: (deviation) => void everywhere.add(deviation) });
      process.stdout.write(`ok      ${name}\n`);
    } catch (error) {
      fail(name, error instanceof Error ? error.message : String(error));
    }
  }
  const envelope = "§2 every answer is an envelope with its content type and version";
  if (everywhere.size > 0) fail(envelope, [...everywhere].join("\n        "));
  else process.stdout.write(`ok      ${envelope}\n`);
  const all = Object.keys(cases).length + 1;
  process.stdout.write(`${all - failed} of ${all} hold\n`);
  process.exitCode = failed > 0 ? 1 : 0;
}
