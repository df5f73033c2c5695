import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { create, status } from "./http.js";

/** @typedef {import("./http.js").Answer} Answer */
/** @typedef {import("./http.js").Target} Target */

const VERSION = /^\d+\.\d+\.\d+$/;
/** §2: ISO 8601 with a UTC offset and fractional seconds. */
const TIMESTAMP = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d+(?:Z|[+-]\d{2}:\d{2})$/;

/**
 * §2: the envelope of a success; gives back its data.
 *
 * @param {Answer} answer
 * @returns {Record<string, unknown>}
 */
export function success(answer) {
  assert.equal(answer.status, 200, answer.text);
  const envelope = envelopeOf(answer);
  assert.equal(envelope.status, true);
  assert.equal(typeof envelope.data, "object");
  assert.ok(envelope.data !== null && !Array.isArray(envelope.data), "data is an object");
  assert.ok(!("error" in envelope), "error is present on failure only");
  return envelope.data;
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
  assert.equal(answer.status, httpStatus, answer.text);
  const envelope = envelopeOf(answer);
  assert.equal(envelope.status, false);
  assert.equal(envelope.error?.code, code);
  assert.equal(typeof envelope.error.message, "string");
  assert.ok(!("data" in envelope), "data is present on success only");
  return envelope.error.message;
}

/** @param {Answer} answer */
function envelopeOf({ headers, text }) {
  assert.match(headers["content-type"] ?? "", /^application\/json\b/);
  const envelope = JSON.parse(text);
  assert.match(envelope.version, VERSION);
  return envelope;
}

/** @param {unknown} value */
export function timestamp(value) {
  assert.match(String(value), TIMESTAMP);
  assert.ok(!Number.isNaN(Date.parse(String(value))), "it is a date");
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
  assert.equal(data.status, "PENDING");
  assert.equal(typeof data.request_id, "string");
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
    assert.ok(
      ["PENDING", "PROCESSING", "COMPLETED", "FAILED", "STOPPED"].includes(String(state)),
      `state ${state}`,
    );
    if (states.includes(String(state))) return String(state);
    assert.ok(performance.now() < end, `${id} is still ${state}, not ${states.join(" or ")}`);
    await sleep(wait);
  }
}
