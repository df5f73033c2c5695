import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";

// The conformance suite knows nothing of this repository's code: node:http and the interface document, no more.

/** How long a service may be silent, in milliseconds. */
const SILENCE_MS = 30_000;

/**
 * @typedef {object} Target
 * @property {string} baseUrl without a trailing slash
 * @property {string} key a valid API key
 * @property {string} statusMethod §4.3 does not show it
 * @property {number} patienceMs how long a conversation may take to end
 * @property {number} [silenceMs] how long the service may be silent, 30 s by default
 * @property {string} [failing] a prompt whose research fails
 * @property {string} [lasting] a prompt whose research lasts until it is stopped
 * @property {(deviation: string) => void} [note] told of what deviates in every answer alike; else it is thrown
 * @property {"free" | "pro"} [tier] the tier of the key, where its limits are to be used up
 */

/**
 * @typedef {object} Answer
 * @property {string} asked method and path
 * @property {((deviation: string) => void) | undefined} note see Target
 * @property {number} status
 * @property {import("node:http").IncomingHttpHeaders} headers
 * @property {string} text
 */

/**
 * @typedef {object} Ask
 * @property {string} method
 * @property {string} path
 * @property {Record<string, string>} [headers]
 * @property {string} [body]
 */

/**
 * One exchange over a connection of its own.
 *
 * @param {Target} target
 * @param {Ask} ask
 * @returns {Promise<Answer>}
 */
export function exchange({ baseUrl, note, silenceMs = SILENCE_MS }, { method, path, headers = {}, body }) {
  const asked = `${method} ${path}`;
  const send = baseUrl.startsWith("https:") ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const request = send(`${baseUrl}${path}`, { method, headers, agent: false }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk) => {
        text += chunk;
      });
      response.on("error", reject);
      response.on("end", () =>
        resolve({ asked, note, status: response.statusCode ?? 0, headers: response.headers, text }),
      );
    });
    request.on("error", reject);
    request.setTimeout(silenceMs, () =>
      request.destroy(new Error(`no answer to ${asked} within ${silenceMs / 1_000} s`)),
    );
    request.end(body);
  });
}

/** @param {string} key */
export const bearer = (key) => ({ Authorization: `Bearer ${key}` });

const JSON_TYPE = { "Content-Type": "application/json" };

/**
 * §4.1
 *
 * @param {Target} target
 * @param {unknown} body a value to be sent as JSON, or a string that is sent as it is
 * @param {Record<string, string>} [headers] instead of the two that are required
 */
export function create(target, body, headers = { ...bearer(target.key), ...JSON_TYPE }) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return exchange(target, { method: "POST", path: "/api/v1/conversations", headers, body: text });
}

/**
 * §4.2: both headers, no body.
 *
 * @param {Target} target
 * @param {string} id
 * @param {Record<string, string>} [headers] instead of the two that are required
 */
export function stop(target, id, headers = { ...bearer(target.key), ...JSON_TYPE }) {
  return exchange(target, { method: "POST", path: `/api/v1/conversation/${id}/stop`, headers });
}

/**
 * §4.3
 *
 * @param {Target} target
 * @param {string} id
 * @param {Record<string, string>} [headers]
 */
export function status(target, id, headers = bearer(target.key)) {
  return exchange(target, {
    method: target.statusMethod,
    path: `/api/v1/conversation/${id}/status`,
    headers,
  });
}

/**
 * The output of the local service; §4.4 shows neither path nor method.
 *
 * @param {Target} target
 * @param {string} id
 */
export function output(target, id) {
  return exchange(target, {
    method: "GET",
    path: `/api/v1/conversation/${id}/output`,
    headers: bearer(target.key),
  });
}
