import { expect, test } from "vitest";
import type { Success } from "../../../src/client/calls/classify-response.js";
import type { ClientEvent, ClientOptions } from "../../../src/client/calls/client-options.js";
import { ServiceSession } from "../../../src/client/calls/service-session.js";
import { CREATE } from "../../../src/core/protocol/conversation.js";
import * as does from "../../support/behaviours.js";
import { faultServer } from "../../support/fault-server.js";
import { KEY } from "../../support/happy-service.js";
import { leftovers } from "../../support/leftovers.js";

async function sessionAt(behaviour: does.Behaviour, options: Partial<ClientOptions> = {}, path = "") {
  const server = await faultServer(() => behaviour);
  const session = new ServiceSession({ baseUrl: server.url + path, apiKey: KEY, ...options });
  leftovers.add(() => session.close());
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
])("an exchange takes at most %s", async (_, options, total) => {
  const { session } = await sessionAt(does.hang(), options);
  expect(await session.call("status", "id-1", { total })).toMatchObject({
    kind: "fault",
    fault: "timeout",
  });
});

test("an answer that is the last one byte for byte is not read again, but its headers are", async () => {
  const body = '{"status":true,"version":"1.0.0","data":{"status":"PENDING"}}';
  const large = body.replace("PENDING", "x".repeat(4_096));
  const answers = [
    { body },
    { body, headers: { "retry-after": 7 } },
    { body, headers: { "openai-poll-after-ms": 9_000 } },
    { body, headers: { "openai-poll-after-ms": "soon" } },
    { body, headers: { "retry-after": 5_000 } },
    { body, headers: { "openai-poll-after-ms": 99_999_999_999_999 } },
    { body, status: 202 },
    { body: body.replace("PENDING", "FAILED") },
    { body: large },
    { body: large },
  ];
  const { session } = await sessionAt({
    act: (socket) => void socket.write(does.answerBytes(answers.shift() ?? {})),
  });
  let last: Success | undefined;
  const next = async () => {
    const result = await session.call("status", "id-1", {}, last);
    if (result.kind !== "data") return expect.unreachable(result.error.message);
    const [isSame, { waitMs, data }] = [result.data === last?.data, result];
    last = result;
    return [data.status, isSame, waitMs];
  };
  expect(await next()).toEqual(["PENDING", false, 0]);
  expect(await next()).toEqual(["PENDING", true, 7_000]);
  expect(await next()).toEqual(["PENDING", true, 9_000]);
  expect(await next()).toEqual(["PENDING", true, 0]);
  // However long the service wants, a poll is made after 15 minutes.
  expect(await next()).toEqual(["PENDING", true, 900_000]);
  expect(await next()).toEqual(["PENDING", true, 900_000]);
  expect(await next()).toEqual(["PENDING", false, 0]);
  expect(await next()).toEqual(["FAILED", false, 0]);
  expect(await next()).toMatchObject({ 1: false });
  expect(await next()).toMatchObject({ 1: false });
});

test.each(["", "a b", "a\nb", "ä"])("the key %j is none", (apiKey) => {
  expect(() => new ServiceSession({ baseUrl: "http://127.0.0.1:1", apiKey })).toThrow(
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
