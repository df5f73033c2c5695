import { created, equal, failure, must, reached, success, text, timestamp } from "./expect.js";
import { bearer, create, status, stop } from "./http.js";

/** @typedef {import("./http.js").Target} Target */

const NOBODY = "00000000-0000-4000-8000-000000000000";
const JSON_TYPE = { "Content-Type": "application/json" };

/**
 * What the interface document shows, and so every implementation does. Needs about ten creates.
 *
 * @type {Record<string, (target: Target) => Promise<void>>}
 */
export const INTERFACE = {
  async "§4.1 create answers an id, PENDING and the time of creation"(target) {
    const data = success(await create(target, { prompt: "What is a conversation?" }));
    text("data.request_id of create", data.request_id);
    equal("data.status of create", data.status, "PENDING");
    timestamp("data.created_at of create", data.created_at);
  },

  async "§2 ids are unique"(target) {
    const ids = [await created(target), await created(target)];
    must(ids[0] !== ids[1], "data.request_id of a second create", "another one", ids[1]);
  },

  async "§2 create takes structured_output and output_schema"(target) {
    const output_schema = {
      type: "object",
      properties: { list: { type: "array", items: { type: "string" } }, part: { type: "object" } },
    };
    await created(target, { prompt: "What is a conversation?", structured_output: true, output_schema });
    await created(target, { prompt: "What is a conversation?", structured_output: false });
  },

  async "§7 create refuses what is not valid with VALIDATION_ERROR"(target) {
    const bad = [{}, { prompt: 1 }, { prompt: null }, { prompt: ["x"] }, [], "text", "{", ""];
    for (const body of bad) failure(await create(target, body), 400, "VALIDATION_ERROR");
    const typed = [{ structured_output: "yes" }, { structured_output: true, output_schema: "x" }];
    for (const more of typed)
      failure(await create(target, { prompt: "x", ...more }), 400, "VALIDATION_ERROR");
  },

  async "§5 create and stop ask for a valid key"(target) {
    const wrong = [
      {},
      bearer("no-such-key"),
      { Authorization: target.key },
      { Authorization: `Basic ${target.key}` },
    ];
    for (const headers of wrong) {
      failure(await create(target, { prompt: "x" }, { ...headers, ...JSON_TYPE }), 401, "INVALID_API_KEY");
      failure(await stop(target, NOBODY, { ...headers, ...JSON_TYPE }), 401, "INVALID_API_KEY");
      failure(await status(target, NOBODY, headers), 401, "INVALID_API_KEY");
    }
  },

  async "§4.3 status carries the state"(target) {
    const id = await created(target);
    const { status: state } = success(await status(target, id));
    const states = ["PENDING", "PROCESSING", "COMPLETED", "FAILED"];
    must(states.includes(String(state)), "data.status of status", `one of ${states.join(", ")}`, state);
  },

  async "§4.2 stop answers STOPPED, and the conversation stays so (§3)"(target) {
    const id = await created(target, { prompt: target.lasting ?? "What is a conversation?" });
    const data = success(await stop(target, id));
    equal("data.request_id of stop", data.request_id, id);
    equal("data.status of stop", data.status, "STOPPED");
    text("data.message of stop", data.message);
    equal("data.status after a stop", success(await status(target, id)).status, "STOPPED");
  },

  async "§3 a stopped conversation cannot be stopped again"(target) {
    const id = await created(target, { prompt: target.lasting ?? "What is a conversation?" });
    success(await stop(target, id));
    const again = await stop(target, id);
    // §7 does not show the code.
    const isRefused = again.status >= 400 && again.status < 500;
    must(isRefused, "the HTTP status of a second stop", "400 to 499", again.status);
    must(/"status"\s*:\s*false/.test(again.text), "a second stop's answer", "an error", again.text);
    equal("data.status after two stops", success(await status(target, id)).status, "STOPPED");
  },

  async "§7 stop of a completed conversation is CONVERSATION_ALREADY_COMPLETED"(target) {
    const id = await created(target);
    equal("the end of a plain question", await reached(target, id, "COMPLETED", "FAILED"), "COMPLETED");
    failure(await stop(target, id), 400, "CONVERSATION_ALREADY_COMPLETED");
    equal("data.status after a refused stop", success(await status(target, id)).status, "COMPLETED");
  },

  async "§7 stop of what does not exist is REQUEST_NOT_FOUND"(target) {
    failure(await stop(target, NOBODY), 404, "REQUEST_NOT_FOUND");
  },
};
