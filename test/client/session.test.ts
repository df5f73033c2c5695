import { afterEach, expect, test } from "vitest";
import type { ClientEvent, ClientOptions } from "../../src/client/options.js";
import { Session } from "../../src/client/session.js";
import { CREATE } from "../../src/protocol/conversation.js";
import * as does from "../support/behaviours.js";
import { faultServer } from "../support/fault-server.js";
import { KEY } from "../support/happy-service.js";

const started: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(started.splice(0).map((thing) => thing.close()));
});

async function sessionAt(behaviour: does.Behaviour, options: Partial<ClientOptions> = {}, path = "") {
  const server = await faultServer(() => behaviour);
  const session = new Session({ baseUrl: server.url + path, apiKey: KEY, ...options });
  started.push(session, server);
  return { session, server };
}

test.each<[string, does.Behaviour, string | undefined]>([
  ["of a success", does.ok({ request_id: "id-1" }), "id-1"],
  ["of an error that carries one", does.answer({ status: 502, body: '{"request_id":"id-1"}' }), "id-1"],
  ["that is not well-formed", does.ok({ request_id: "../x" }), undefined],
  ["that holds the key", does.ok({ request_id: KEY }), undefined],
  [
    "of an error, that holds the key",
    does.answer({ status: 502, body: `{"request_id":"${KEY}"}` }),
    undefined,
  ],
  ["of an answer without one", does.ok({ status: "PENDING" }), undefined],
])("the request id %s", async (_, behaviour, requestId) => {
  const { session } = await sessionAt(behaviour);
  expect((await session.create(CREATE, {})).requestId).toBe(requestId);
});

test.each(["", "/", "/team/a", "/team/a/"])(
  "a base URL that ends in %j: its path leads each request",
  async (path) => {
    const { session, server } = await sessionAt(does.ok({ status: "PENDING" }), { userAgent: "u/1" }, path);
    await session.call("status", "id-1", {});
    await session.call("stop", "id-1", {});
    const prefix = path.replace(/\/$/, "");
    expect(server.requests.map((request) => request.path)).toEqual([
      `${prefix}/api/v1/conversation/id-1/status`,
      `${prefix}/api/v1/conversation/id-1/stop`,
    ]);
  },
);

test.each(["", ".", "..", "a/b", "a b"])("the id %j never stands in a path", async (id) => {
  const { session, server } = await sessionAt(does.ok({ status: "PENDING" }));
  await expect(session.call("stop", id, {})).rejects.toMatchObject({ code: "USAGE" });
  expect(server.connections).toBe(0);
});

test.each([
  ["the client's limit", { requestTimeout: 1_500 }, 600_000],
  ["the call's own, if that is shorter", { requestTimeout: 600_000 }, 1_500],
])("an exchange takes at most %s", async (_, options, timeout) => {
  const { session } = await sessionAt(does.hang(), options);
  expect(await session.call("status", "id-1", { timeout })).toMatchObject({
    kind: "fault",
    fault: "timeout",
  });
});

test.each(["", "a b", "a\nb", "ä"])("the key %j is none", (apiKey) => {
  expect(() => new Session({ baseUrl: "http://127.0.0.1:1", apiKey })).toThrow(
    expect.objectContaining({ code: "NOT_AUTHENTICATED" }),
  );
});

test("each exchange is an event, and the key is in none", async () => {
  const events: ClientEvent[] = [];
  const onEvent = (event: ClientEvent) => void events.push(event);
  const { session, server } = await sessionAt(does.refuse(404, "REQUEST_NOT_FOUND", { date: "now" }), {
    onEvent,
  });
  await session.call("status", "id-1", {});
  const url = `${server.url}/api/v1/conversation/id-1/status`;
  expect(events).toMatchObject([{ kind: "exchange", method: "GET", url, outcome: "HTTP 404", date: "now" }]);
  expect(JSON.stringify(events)).not.toContain(KEY);
});
