import { connect } from "node:net";
import { created, equal, failure, must, reached, success, timestamp } from "./expect.js";
import { bearer, create, exchange, output, status, stop } from "./http.js";

/** @typedef {import("./http.js").Target} Target */

const NOBODY = "00000000-0000-4000-8000-000000000000";
const JSON_TYPE = { "Content-Type": "application/json" };

/**
 * What the interface leaves open and `research serve` does. Asks for an implementation with the same choices, and
 * for a failing and a lasting prompt.
 *
 * @type {Record<string, (target: Target) => Promise<void>>}
 */
export const LOCAL = {
  async "status carries request_id and created_at too"(target) {
    const data = success(await create(target, { prompt: "x" }));
    const seen = success(await status(target, String(data.request_id)));
    const fields = Object.keys(seen).filter((name) => name !== "progress");
    equal("the fields of a status but its progress", fields.sort(), ["created_at", "request_id", "status"]);
    equal("data.request_id of status", seen.request_id, data.request_id);
    equal("data.created_at of status", seen.created_at, data.created_at);
    failure(await status(target, NOBODY), 404, "REQUEST_NOT_FOUND");
  },

  async "output carries the result and when it was there"(target) {
    const id = await created(target);
    await reached(target, id, "COMPLETED");
    const data = success(await output(target, id));
    equal("data.request_id of output", data.request_id, id);
    equal("data.status of output", data.status, "COMPLETED");
    equal("the type of data.output", typeof data.output, "string");
    timestamp("data.completed_at of output", data.completed_at);
    failure(await output(target, NOBODY), 404, "REQUEST_NOT_FOUND");
  },

  async "PENDING and PROCESSING have no output yet; both can be stopped"(target) {
    const ids = [];
    for (let i = 0; i < 4; i++) ids.push(await created(target, { prompt: target.lasting }));
    for (const id of ids) failure(await output(target, id), 400, "CONVERSATION_NOT_COMPLETED");
    await reached(target, String(ids[0]), "PROCESSING");
    const states = await Promise.all(ids.map(async (id) => success(await status(target, id)).status));
    const seen = [...new Set(states)].sort();
    equal("the states of 4 lasting ones (with fewer than 4 workers)", seen, ["PENDING", "PROCESSING"]);
    for (const id of ids) {
      equal("data.status of stop", success(await stop(target, id)).status, "STOPPED");
      failure(await output(target, id), 400, "OUTPUT_NOT_AVAILABLE");
      failure(await stop(target, id), 400, "CONVERSATION_ALREADY_STOPPED");
    }
  },

  async "FAILED has no output and cannot be stopped"(target) {
    const id = await created(target, { prompt: target.failing });
    equal("the end of the failing prompt", await reached(target, id, "FAILED", "COMPLETED"), "FAILED");
    failure(await output(target, id), 400, "OUTPUT_NOT_AVAILABLE");
    failure(await stop(target, id), 400, "CONVERSATION_ALREADY_FAILED");
    equal("data.status after a refused stop", success(await status(target, id)).status, "FAILED");
  },

  async "COMPLETED keeps its output when it cannot be stopped"(target) {
    const id = await created(target);
    await reached(target, id, "COMPLETED");
    failure(await stop(target, id), 400, "CONVERSATION_ALREADY_COMPLETED");
    success(await output(target, id));
  },

  async "a validation error names the field"(target) {
    /** @type {[string, unknown][]} */
    const bad = [
      ["prompt", { structured_output: true }],
      ["prompt", { prompt: " \n\t" }],
      ["structured_output", { prompt: "x", structured_output: 1 }],
      ["output_schema", { prompt: "x", structured_output: true, output_schema: [] }],
      ["output_schema", { prompt: "x", structured_output: true, output_schema: { type: "nothing" } }],
      ["output_schema", { prompt: "x", output_schema: { type: "object" } }],
    ];
    for (const [field, body] of bad) {
      const message = failure(await create(target, body), 400, "VALIDATION_ERROR");
      must(message.includes(field), "error.message of an invalid create", `one that names ${field}`, message);
    }
  },

  async "an unknown path is 404, a wrong method 405 with Allow"(target) {
    const headers = bearer(target.key);
    for (const path of [
      "/",
      "/api/v1",
      "/api/v1/conversation",
      `/api/v1/conversations/${NOBODY}`,
      "/api/v2/conversations",
      "/api/v1/conversations/",
      `/api/v1/conversation/${NOBODY}/status/`,
    ]) {
      failure(await exchange(target, { method: "GET", path, headers }), 404, "NOT_FOUND");
    }
    /** @type {[string, string, string][]} */
    const wrong = [
      ["GET", "/api/v1/conversations", "POST"],
      ["DELETE", "/api/v1/conversations", "POST"],
      ["GET", `/api/v1/conversation/${NOBODY}/stop`, "POST"],
      ["POST", `/api/v1/conversation/${NOBODY}/status`, "GET, HEAD"],
      ["PUT", `/api/v1/conversation/${NOBODY}/output`, "GET, HEAD"],
    ];
    for (const [method, path, allow] of wrong) {
      const answer = await exchange(target, { method, path, headers });
      failure(answer, 405, "METHOD_NOT_ALLOWED");
      equal(`Allow of ${method} ${path}`, answer.headers.allow, allow);
    }
  },

  async "any content type but JSON is 415, for stop too"(target) {
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "application/jsonx", undefined]) {
      const headers = { ...bearer(target.key), ...(type === undefined ? {} : { "Content-Type": type }) };
      failure(await create(target, { prompt: "x" }, headers), 415, "UNSUPPORTED_MEDIA_TYPE");
      failure(await stop(target, NOBODY, headers), 415, "UNSUPPORTED_MEDIA_TYPE");
    }
    const charset = { ...bearer(target.key), "Content-Type": "application/json; charset=utf-8" };
    success(await create(target, { prompt: "x" }, charset));
  },

  async "a body of 1 MiB is taken, one byte more is 413"(target) {
    const empty = JSON.stringify({ prompt: "" }).length;
    success(await create(target, { prompt: "x".repeat(1_048_576 - empty) }));
    failure(await create(target, { prompt: "x".repeat(1_048_577 - empty) }), 413, "PAYLOAD_TOO_LARGE");
  },

  async "a foreign Host is 421, any Origin 403"(target) {
    const key = bearer(target.key);
    const path = `/api/v1/conversation/${NOBODY}/status`;
    for (const Host of ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", "10.0.0.1"]) {
      failure(
        await exchange(target, { method: "GET", path, headers: { ...key, Host } }),
        421,
        "MISDIRECTED_REQUEST",
      );
    }
    for (const Host of ["localhost", "LOCALHOST:1", "127.0.0.1:65535", "127.9.9.9", "[::1]:80"]) {
      failure(
        await exchange(target, { method: "GET", path, headers: { ...key, Host } }),
        404,
        "REQUEST_NOT_FOUND",
      );
    }
    for (const Origin of ["https://evil.example", "null", target.baseUrl]) {
      failure(
        await create(target, { prompt: "x" }, { ...key, ...JSON_TYPE, Origin }),
        403,
        "ORIGIN_NOT_ALLOWED",
      );
    }
  },

  async "what is not HTTP gets an envelope too"(target) {
    const bad = [
      "GARBAGE\r\n\r\n",
      "GET / HTTP/1.1\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a b\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: localhost\r\nExpect: tea\r\n\r\n",
      `GET / HTTP/1.1\r\nHost: localhost\r\nX: ${"x".repeat(70_000)}\r\n\r\n`,
      "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ];
    for (const bytes of bad) {
      const [head = "", body = ""] = (await raw(target.baseUrl, bytes)).split("\r\n\r\n");
      must(/^HTTP\/1\.1 4\d\d /.test(head), `the answer to ${bytes.slice(0, 40)}`, "a 4xx", head);
      must(/"status":false/.test(body), `the body for ${bytes.slice(0, 40)}`, "an error's envelope", body);
    }
  },
};

/**
 * @param {string} baseUrl
 * @param {string} bytes
 * @returns {Promise<string>}
 */
function raw(baseUrl, bytes) {
  const { hostname, port } = new URL(baseUrl);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname.replace(/^\[|\]$/g, ""));
    let text = "";
    socket.setEncoding("utf8");
    socket.on("data", (chunk) => {
      text += chunk;
      // An answer on a connection that stays open is whole with its body.
      if (/\r\n\r\n\{.*\}$/.test(text)) socket.destroy();
    });
    socket.on("error", reject);
    socket.on("close", () => resolve(text));
    socket.write(bytes);
  });
}
