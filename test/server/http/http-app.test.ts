import { once } from "node:events";
import { STATUS_CODES } from "node:http";
import { connect } from "node:net";
import { promisify } from "node:util";
import { beforeEach, describe, expect, it } from "vitest";
import { type Clock, systemClock } from "../../../src/core/clock.js";
import type { Service } from "../../../src/server/service.js";
import { gate } from "../../support/gate.js";
import { create, endlessResearcher, KEY, memoryStore, serviceFor, until } from "../../support/service.js";
import { ask, post, raw } from "../../support/wire.js";

let service: Service;
beforeEach(async () => {
  service = await serviceFor();
});

const status = (id: unknown) => ask(service.baseUrl, { path: `/api/v1/conversation/${id}/status`, key: KEY });

describe("a conversation", () => {
  it("is created PENDING, completes and has an output", async () => {
    const created = await post(service.baseUrl, "/api/v1/conversations", KEY, { prompt: "why" });
    expect(created.status).toBe(200);
    expect(created.json).toMatchObject({ status: true, version: "1.0.0", data: { status: "PENDING" } });
    expect(created.json.data?.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+\+00:00$/);
    const id = created.json.data?.request_id;
    const last = await until(async () => {
      const answer = await status(id);
      return answer.json.data?.status === "COMPLETED" ? answer : undefined;
    });
    expect(last.json.data).toEqual({
      request_id: id,
      status: "COMPLETED",
      created_at: created.json.data?.created_at,
    });
    const output = await ask(service.baseUrl, { path: `/api/v1/conversation/${id}/output`, key: KEY });
    expect(output.json.data).toMatchObject({ request_id: id, status: "COMPLETED", output: "about: why" });
    const stop = await post(service.baseUrl, `/api/v1/conversation/${id}/stop`, KEY);
    expect([stop.status, stop.json.error?.code]).toEqual([400, "CONVERSATION_ALREADY_COMPLETED"]);
  });

  it("stops at once, frees its work and cannot be stopped again", async () => {
    const researcher = endlessResearcher();
    const busy = await serviceFor({ researcher });
    const id = await create(busy);
    await until(async () => (researcher.running === 1 ? true : undefined));
    const stop = await post(busy.baseUrl, `/api/v1/conversation/${id}/stop`, KEY);
    expect(stop.json.data).toMatchObject({ request_id: id, status: "STOPPED", message: expect.any(String) });
    await until(async () => (researcher.running === 0 ? true : undefined));
    const again = await post(busy.baseUrl, `/api/v1/conversation/${id}/stop`, KEY);
    expect([again.status, again.json.error?.code]).toEqual([400, "CONVERSATION_ALREADY_STOPPED"]);
  });
});

describe("bad input", () => {
  it.each([
    ["{", "body"],
    ["[]", "body"],
    ["", "body"],
    ["{}", "prompt"],
    [`{"prompt":1}`, "prompt"],
    [`{"prompt":"  "}`, "prompt"],
    [`{"prompt":"x","structured_output":"yes"}`, "structured_output"],
    [`{"prompt":"x","structured_output":true,"output_schema":[]}`, "output_schema"],
    [`{"prompt":"x","structured_output":true,"output_schema":{"type":"strin"}}`, "output_schema"],
    [`{"prompt":"x","output_schema":{"type":"string"}}`, "output_schema"],
    [
      `{"prompt":"x","structured_output":true,"output_schema":${'{"a":'.repeat(5000)}1${"}".repeat(5000)}}`,
      "output_schema",
    ],
  ])("%# is a VALIDATION_ERROR that names its field", async (body, field) => {
    const headers = { "Content-Type": "application/json" };
    const asked = { method: "POST", path: "/api/v1/conversations", key: KEY, headers, body };
    const answer = await ask(service.baseUrl, asked);
    expect([answer.status, answer.json.error?.code]).toEqual([400, "VALIDATION_ERROR"]);
    expect(answer.json.error?.message).toContain(field);
  });

  it("a HEAD of what only a POST does is refused, and does nothing", async () => {
    const answer = await ask(service.baseUrl, { method: "HEAD", path: "/api/v1/conversations", key: KEY });
    expect([answer.status, answer.headers.allow]).toEqual([405, "POST"]);
  });

  it("a body that says it is over 1 MiB is refused before it comes, whatever the method", async () => {
    const head = "GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1048577\r\n\r\n";
    expect(await raw(service.baseUrl, head)).toMatch(/^HTTP\/1\.1 413 /);
  });

  it("what cannot be read of a HEAD is answered without a body", async () => {
    const text = await raw(service.baseUrl, "HEAD /\xe9 HTTP/1.1\r\nHost: localhost\r\n\r\n");
    expect(text).toMatch(/^HTTP\/1\.1 400 [\s\S]*\r\n\r\n$/);
  });

  it("a body over 1 MiB is 413, announced or not", async () => {
    const body = JSON.stringify({ prompt: "x".repeat(1_048_577) });
    const common = { method: "POST", path: "/api/v1/conversations", key: KEY, body };
    const chunked = { "Content-Type": "application/json", "Transfer-Encoding": "chunked" };
    for (const headers of [{ "Content-Type": "application/json" }, chunked]) {
      const answer = await ask(service.baseUrl, { ...common, headers });
      expect([answer.status, answer.json.error?.code]).toEqual([413, "PAYLOAD_TOO_LARGE"]);
    }
  });

  it("a client that sends all of a body that is too large reads the answer after that", async () => {
    const { hostname, port } = new URL(service.baseUrl);
    const socket = connect(Number(port), hostname).pause();
    const head = `POST /api/v1/conversations HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${KEY}\r\n`;
    socket.write(`${head}Connection: close\r\nContent-Length: 20000000\r\n\r\n`);
    await promisify(socket.write.bind(socket) as (body: Buffer) => void)(Buffer.alloc(20_000_000));
    const [chunk] = await once(socket.resume(), "data");
    expect(String(chunk)).toMatch(/^HTTP\/1\.1 413 .*PAYLOAD_TOO_LARGE/s);
    await once(socket, "close");
  });

  const [LOCAL, CREATE] = ["Host: localhost", "POST /api/v1/conversations"];
  it.each([
    [["GET /nothing", LOCAL], 404, "NOT_FOUND"],
    [["GET /api/v1/conversations", LOCAL], 405, "METHOD_NOT_ALLOWED"],
    [["GET /", "Host: evil.example"], 421, "MISDIRECTED_REQUEST"],
    [["GET /", "Host: localhost:1", "Origin: null"], 403, "ORIGIN_NOT_ALLOWED"],
    [["GET /"], 400, "BAD_REQUEST"],
    [["GET /", LOCAL, "HOST: evil.example"], 400, "BAD_REQUEST"],
    [["GET /", "Host: a b"], 400, "BAD_REQUEST"],
    [["GET /", LOCAL, "Expect: tea"], 417, "EXPECTATION_FAILED"],
    [["GET /", LOCAL, `X: ${"x".repeat(20_000)}`], 431, "HEADERS_TOO_LARGE"],
    [["nonsense"], 400, "BAD_REQUEST"],
    [[CREATE, LOCAL], 401, "INVALID_API_KEY"],
    [[CREATE, LOCAL, `Authorization: Bearer ${KEY}`], 415, "UNSUPPORTED_MEDIA_TYPE"],
  ])("%# is refused in an envelope", async ([line, ...fields], code, name) => {
    const asked = [`${line} HTTP/1.1`, ...fields, "Connection: close", "", ""].join("\r\n");
    const text = await raw(service.baseUrl, asked);
    const [head = "", body = ""] = text.split("\r\n\r\n");
    const [first, ...lines] = head.toLowerCase().split("\r\n");
    expect(first).toBe(`http/1.1 ${code} ${STATUS_CODES[code]}`.toLowerCase());
    expect(JSON.parse(body)).toMatchObject({ status: false, version: "1.0.0", error: { code: name } });
    expect(lines).toEqual(
      expect.arrayContaining([
        "content-type: application/json; charset=utf-8",
        "cache-control: no-store",
        "x-content-type-options: nosniff",
        `content-length: ${body.length}`,
        "connection: close",
        ...(code === 405 ? ["allow: post"] : []),
        ...(code === 401 ? ["www-authenticate: bearer"] : []),
      ]),
    );
  });

  it("what cannot be read is answered after what came before it on its connection", async () => {
    const asked = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n";
    const text = await raw(service.baseUrl, `${asked}${asked}nonsense\r\n\r\n`);
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 200", "HTTP/1.1 200", "HTTP/1.1 400"]);
  });
});

it("carries out 16 creates with large bodies at a time, small ones beside them, and none of a client that left", async () => {
  const store = await memoryStore();
  const createIn = store.create.bind(store);
  const begun: number[] = [];
  const { opened, open } = gate();
  const busy = await serviceFor({
    store: Object.assign(store, {
      create: async (...asked: Parameters<typeof createIn>) => {
        begun.push(asked[1].prompt.length);
        await opened;
        return createIn(...asked);
      },
    }),
  });
  const [large, small] = [100_000, 100];
  const send = (length: number) =>
    post(busy.baseUrl, "/api/v1/conversations", KEY, { prompt: "x".repeat(length) });
  const answers = Array.from({ length: 16 }, () => send(large));
  await until(async () => begun.length === 16 || undefined);
  const leaving = connect(Number(new URL(busy.baseUrl).port), "127.0.0.1");
  const head = `POST /api/v1/conversations HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${KEY}\r\n`;
  leaving.write(`${head}Content-Type: application/json\r\nContent-Length: 99999\r\n\r\n{"prompt":"gone`);
  answers.push(...Array.from({ length: 4 }, () => send(large)), send(small));
  await until(async () => begun.includes(small) || undefined);
  leaving.destroy();
  expect(begun.length).toBe(17);
  open();
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(Array(21).fill(200));
  expect(begun.length).toBe(21);
});

it("large bodies of one key that do not come hold up no other key", async () => {
  const clock: Clock = {
    ...systemClock,
    sleep: (ms, signal) => systemClock.sleep(ms < 5_000 ? ms : 1_000_000, signal),
  };
  const { baseUrl } = await serviceFor({ clock });
  const body = { prompt: "x".repeat(100_000) };
  const { hostname, port } = new URL(baseUrl);
  const head = `POST /api/v1/conversations HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${KEY}\r\n`;
  const slow = Array.from({ length: 16 }, () => connect(Number(port), hostname));
  for (const socket of slow)
    socket.write(`${head}Content-Type: application/json\r\nContent-Length: 99999\r\n\r\n{`);
  await ask(baseUrl, { path: "/health" });
  expect((await post(baseUrl, "/api/v1/conversations", "another", body)).status).toBe(401);
  const waiting = post(baseUrl, "/api/v1/conversations", KEY, body);
  slow[0]?.destroy();
  expect((await waiting).status).toBe(200);
  for (const socket of slow) socket.destroy();
});

it("reads eight outputs of a key at a time, and states beside them", async () => {
  const store = await memoryStore();
  const { opened, open } = gate();
  let begun = 0;
  const output = async () => {
    begun++;
    await opened;
    return undefined;
  };
  const { baseUrl } = await serviceFor({ store: Object.assign(store, { output }) });
  const read = (operation: string, key = KEY) =>
    ask(baseUrl, { path: `/api/v1/conversation/x/${operation}`, key });
  const answers = Array.from({ length: 11 }, () => read("output"));
  await until(async () => begun === 8 || undefined);
  expect([(await read("status")).status, (await read("output", "another")).status]).toEqual([404, 401]);
  expect(begun).toBe(8);
  open();
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(Array(11).fill(404));
  expect(begun).toBe(11);
});

it("gives no ninth output of a key while eight are not taken, and eight more once their client has left", async () => {
  const store = await memoryStore();
  const conversation = { requestId: "x", createdAt: 0, endedAt: 0, status: "COMPLETED" } as const;
  const large = { conversation, output: `"${"x".repeat(2 ** 25)}"` };
  let begun = 0;
  const output = async () => {
    begun++;
    return large;
  };
  const { baseUrl } = await serviceFor({ store: Object.assign(store, { output }) });
  const { hostname, port } = new URL(baseUrl);
  const head = `Host: localhost\r\nAuthorization: Bearer ${KEY}\r\n`;
  const asked = `GET /api/v1/conversation/x/output HTTP/1.1\r\n${head}\r\n`.repeat(8);
  const sockets = Array.from({ length: 2 }, () => connect(Number(port), hostname).pause());
  for (const socket of sockets) socket.write(asked);
  await until(async () => begun === 8 || undefined);
  expect((await ask(baseUrl, { path: "/api/v1/conversation/x/status", key: KEY })).status).toBe(404);
  expect(begun).toBe(8);
  sockets[0]?.destroy();
  await until(async () => begun === 16 || undefined);
  for (const socket of sockets) socket.destroy();
});

it("holds no output back for the bodies of requests that were answered without them", async () => {
  const { baseUrl } = await serviceFor();
  const { hostname, port } = new URL(baseUrl);
  const path = "/api/v1/conversation/x/output";
  const head = `Host: localhost\r\nAuthorization: Bearer ${KEY}\r\nContent-Length: 1\r\n`;
  const sockets = Array.from({ length: 8 }, () => connect(Number(port), hostname));
  for (const socket of sockets) socket.write(`GET ${path} HTTP/1.1\r\n${head}\r\n`);
  await Promise.all(sockets.map((socket) => once(socket, "data")));
  expect((await ask(baseUrl, { path, key: KEY })).status).toBe(404);
  for (const socket of sockets) socket.destroy();
});
