import { setTimeout as sleep } from "node:timers/promises";
import { create, status } from "./http.js";

/** @typedef {import("./http.js").Answer} Answer */
/** @typedef {import("./http.js").Target} Target */

const VERSION = /^\d+\.\d+\.\d+$/;
/** §2: ISO 8601 with a UTC offset and fractional seconds. */
const TIMESTAMP = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d+(?:Z|[+-]\d{2}:\d{2})$/;
const STATES = ["PENDING", "PROCESSING", "COMPLETED", "FAILED", "STOPPED"];
/** How much of a value a message shows, characters. */
const SHOWN = 200;

/** Something is not as it must be; the message names it, what was expected and what came. */
export class Deviation extends Error {}

/**
 * @param {boolean} holds
 * @param {string} what
 * @param {string} expected
 * @param {unknown} actual
 */
export function must(holds, what, expected, actual) {
  if (!holds) throw new Deviation(sentence(what, expected, actual));
}

/**
 * @param {string} what
 * @param {unknown} actual
 * @param {unknown} expected
 */
export function equal(what, actual, expected) {
  must(JSON.stringify(actual) === JSON.stringify(expected), what, shown(expected), actual);
}

/**
 * @param {string} what
 * @param {unknown} actual
 */
export function text(what, actual) {
  must(typeof actual === "string" && actual !== "", what, "a text", actual);
}

/**
 * @param {string} what
 * @param {unknown} value
 */
export function timestamp(what, value) {
  const isDate = TIMESTAMP.test(String(value)) && !Number.isNaN(Date.parse(String(value)));
  must(isDate, what, "a time in ISO 8601 with fractional seconds and a UTC offset", value);
}

/**
 * §2: the envelope of a success; gives back its data.
 *
 * @param {Answer} answer
 * @returns {Record<string, unknown>}
 */
export function success(answer) {
  const { asked, status: httpStatus, text } = answer;
  const came = httpStatus < 400 ? httpStatus : `${httpStatus} ${text}`;
  must(httpStatus === 200, `the HTTP status of ${asked}`, "200", came);
  const envelope = envelopeOf(answer);
  equal(`status in the answer to ${asked}`, envelope.status, true);
  const { data } = envelope;
  const isObject = typeof data === "object" && data !== null && !Array.isArray(data);
  must(isObject, `data in the answer to ${asked}`, "an object", data);
  aside(answer, !("error" in envelope), "error in a success", "absent", envelope.error);
  return /** @type {Record<string, unknown>} */ (data);
}

/**
 * §7: an error with that HTTP status and code; gives back its message.
 *
 * @param {Answer} answer
 * @param {number} httpStatus
 * @param {string} code
 * @returns {string}
 */
export function failure(answer, httpStatus, code) {
  const { asked } = answer;
  must(answer.status === httpStatus, `the HTTP status of ${asked}`, String(httpStatus), answer.status);
  const envelope = envelopeOf(answer);
  equal(`status in the answer to ${asked}`, envelope.status, false);
  const { code: actual, message } = /** @type {Record<string, unknown>} */ (envelope.error ?? {});
  equal(`error.code in the answer to ${asked}`, actual, code);
  aside(answer, typeof message === "string", "error.message in an error", "a text", message);
  aside(answer, !("data" in envelope), "data in an error", "absent", envelope.data);
  return String(message);
}

/**
 * @param {Answer} answer
 * @returns {Record<string, unknown>}
 */
function envelopeOf(answer) {
  const { asked, headers, text } = answer;
  let envelope;
  try {
    envelope = JSON.parse(text);
  } catch {
    throw new Deviation(sentence(`the body of the answer to ${asked}`, "JSON", text));
  }
  const isObject = typeof envelope === "object" && envelope !== null;
  must(isObject, `the body of the answer to ${asked}`, "an envelope", envelope);
  const type = headers["content-type"];
  aside(answer, /^application\/json\b/.test(type ?? ""), "the Content-Type", "application/json", type);
  const { version } = envelope;
  aside(answer, VERSION.test(String(version)), "version in the envelope", "three numbers with dots", version);
  return envelope;
}

/**
 * For what is the same in every answer: noted once, so that it does not hide what else deviates.
 *
 * @param {Answer} answer
 * @param {boolean} holds
 * @param {string} what
 * @param {string} expected
 * @param {unknown} actual
 */
function aside({ note }, holds, what, expected, actual) {
  if (holds) return;
  if (note === undefined) throw new Deviation(sentence(what, expected, actual));
  note(sentence(what, expected, actual));
}

/**
 * @param {string} what
 * @param {string} expected
 * @param {unknown} actual
 */
function sentence(what, expected, actual) {
  return `${what} must be ${expected}, and is ${shown(actual)}`;
}

/** @param {unknown} value */
function shown(value) {
  const text = value === undefined ? "absent" : JSON.stringify(value);
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
}

/**
 * A new conversation's identifier.
 *
 * @param {Target} target
 * @param {unknown} [body]
 * @returns {Promise<string>}
 */
export async function created(target, body = { prompt: "What is a conversation?" }) {
  const data = success(await create(target, body));
  equal("data.status of a new conversation", data.status, "PENDING");
  text("data.request_id of a new conversation", data.request_id);
  return String(data.request_id);
}

/**
 * Waits until the conversation is in one of `states`; gives back which.
 *
 * @param {Target} target
 * @param {string} id
 * @param {string[]} states
 */
export async function reached(target, id, ...states) {
  const end = performance.now() + target.patienceMs;
  for (let wait = 5; ; wait = Math.min(2 * wait, 5_000)) {
    const { status: state } = success(await status(target, id));
    must(STATES.includes(String(state)), "data.status of a status", `one of ${STATES.join(", ")}`, state);
    if (states.includes(String(state))) return String(state);
    if (performance.now() > end) {
      const waited = `${target.patienceMs / 1_000} s`;
      throw new Deviation(`${id} must become ${states.join(" or ")}, and is still ${state} after ${waited}`);
    }
    await sleep(wait);
  }
}
