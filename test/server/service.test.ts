import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { type AddressInfo, connect } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import type { Researcher } from "../../src/core/researcher.js";
import { createCommandResearcher } from "../../src/researchers/command-researcher.js";
import { createNodeServer } from "../../src/server/http/node-server.js";
import type { Service } from "../../src/server/service.js";
import { folderWith } from "../support/folder.js";
import {
  create,
  endlessResearcher,
  instantResearcher,
  KEY,
  outputOf,
  reaches,
  serviceFor,
  stateOf,
  until,
} from "../support/service.js";
import { VirtualClock } from "../support/virtual-clock.js";
import { ask, post, raw } from "../support/wire.js";

const final = (service: Service, id: string) =>
  until(async () => {
    const state = await stateOf(service, id);
    return state === "PENDING" || state === "PROCESSING" ? undefined : state;
  });

describe("with a program as researcher", () => {
  const command = (text: string) =>
    createCommandResearcher({ command: text, env: { PATH: process.env.PATH } });
  const endOf = async (text: string, body: object = {}) => {
    const service = await serviceFor({ researcher: command(text) });
    const id = await create(service, body);
    return [await final(service, id), (await outputOf(service, id)) as unknown];
  };
  const refused = (message: string) => ({
    status: false,
    version: "1.0.0",
    error: { code: "OUTPUT_NOT_AVAILABLE", message },
  });

  it("what it prints is the output", async () => {
    expect(await endOf("printf 'An answer.'")).toMatchObject([
      "COMPLETED",
      { data: { output: "An answer." } },
    ]);
    const body = { structured_output: true, output_schema: { type: "object", required: ["a"] } };
    expect(await endOf(`echo '{"a": [1]}'`, body)).toMatchObject([
      "COMPLETED",
      { data: { output: { a: [1] } } },
    ]);
  });

  it("what it prints as JSON is passed on exactly, however deep", async () => {
    const exact = '{"n":12345678901234567890,"big":1e400,"zero":-0,"a":1,"a":2,"e":"\\u00e9"}';
    const deep = `${"[".repeat(200_000)}${"]".repeat(200_000)}`;
    const folder = folderWith({ exact: `${exact}\n`, deep });
    for (const isKept of [false, true]) {
      for (const [name, text] of Object.entries({ exact, deep })) {
        const researcher = command(`cat ${folder}/${name}`);
        const service = await serviceFor({ researcher, ...(isKept && { dataDir: folderWith() }) });
        const id = await create(service, { structured_output: true });
        expect(await final(service, id)).toBe("COMPLETED");
        const answer = await ask(service.baseUrl, { path: `/api/v1/conversation/${id}/output`, key: KEY });
        expect(answer.text).toContain(`"output":${text},"completed_at"`);
      }
    }
  });

  it.each([
    ["its last line on stderr is the reason", "echo early >&2; echo no luck >&2; exit 2", {}, "no luck"],
    [
      "what breaks the schema is no result",
      `echo '{"a": 1}'`,
      { structured_output: true, output_schema: { properties: { a: { type: "string" } } } },
      "The result does not fit the output_schema: at /a: must be string.",
    ],
  ])("%s", async (_name, text, body, reason) => {
    expect(await endOf(text, body)).toEqual(["FAILED", refused(reason)]);
  });

  it("stop and close leave nothing of it in the process table", async () => {
    const folder = folderWith();
    const gone = (name: string) => {
      const path = `/proc/${readFileSync(join(folder, name), "utf8").trim()}/stat`;
      return !existsSync(path) || readFileSync(path, "utf8").includes(") Z ");
    };
    const hanging = `name=$(mktemp -u ${folder}/XXXXXX); sleep 300 & echo $! > $name; mv $name ${folder}/$(ls ${folder} | wc -l).pid; wait`;
    const service = await serviceFor({ researcher: command(hanging) });
    const id = await create(service);
    await until(async () => (existsSync(join(folder, "1.pid")) ? true : undefined));
    await post(service.baseUrl, `/api/v1/conversation/${id}/stop`, KEY);
    await until(async () => (gone("1.pid") ? true : undefined));
    await create(service);
    await until(async () => (existsSync(join(folder, "2.pid")) ? true : undefined));
    expect(gone("2.pid")).toBe(false);
    await service.close();
    expect(gone("2.pid")).toBe(true);
  });
});

it("is PENDING and PROCESSING for their least times", async () => {
  const clock = new VirtualClock();
  const service = await serviceFor({ clock, pendingMs: 60_000, processingMs: 120_000 });
  const letGo = clock.hold();
  const id = await create(service);
  const begun = clock.now();
  expect(await stateOf(service, id)).toBe("PENDING");
  letGo();
  await clock.sleep(59_000);
  expect(await stateOf(service, id)).toBe("PENDING");
  await clock.sleep(2_000);
  expect(await stateOf(service, id)).toBe("PROCESSING");
  await clock.sleep(118_000);
  expect(await stateOf(service, id)).toBe("PROCESSING");
  await clock.sleep(2_000);
  expect(await stateOf(service, id)).toBe("COMPLETED");
  expect(clock.now() - begun).toBe(181_000);
});

it("works on as many at a time as it has workers, first come first served", async () => {
  const researcher = endlessResearcher();
  const service = await serviceFor({ researcher, workers: 3 });
  const ids: string[] = [];
  for (let i = 0; i < 5; i++) ids.push(await create(service));
  const states = () => Promise.all(ids.map((id) => stateOf(service, id)));
  await until(async () => (researcher.running === 3 ? true : undefined));
  expect(await states()).toEqual(["PROCESSING", "PROCESSING", "PROCESSING", "PENDING", "PENDING"]);
  await post(service.baseUrl, `/api/v1/conversation/${ids[3]}/stop`, KEY);
  await post(service.baseUrl, `/api/v1/conversation/${ids[0]}/stop`, KEY);
  await reaches(service, ids[4] ?? "", "PROCESSING");
  expect(await states()).toEqual(["STOPPED", "PROCESSING", "PROCESSING", "STOPPED", "PROCESSING"]);
  await service.close();
  expect(researcher.running).toBe(0);
});

it("says nothing of a researcher's defect but in its log, and never a key", async () => {
  const lines: string[] = [];
  const researcher = instantResearcher(() => {
    throw new Error(`the key ${KEY} is in here`);
  });
  const service = await serviceFor({ researcher, log: (...said) => lines.push(JSON.stringify(said)) });
  const id = await create(service);
  expect(await final(service, id)).toBe("FAILED");
  expect(JSON.stringify(await outputOf(service, id))).toContain("The researcher failed unexpectedly.");
  await service.close();
  expect(lines.join("\n")).toContain("the key [key] is in here");
  expect(lines.join("\n")).not.toContain(KEY);
});

it("a client that hangs up in the middle of its body costs nothing", async () => {
  const lines: string[] = [];
  const service = await serviceFor({ log: (line) => lines.push(line) });
  const head = `POST /api/v1/conversations HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${KEY}\r\nContent-Type: application/json\r\n`;
  const half = raw(service.baseUrl, `${head}Content-Length: 100\r\n\r\n{"prompt`, 50);
  expect(await half).toBe("");
  expect(await stateOf(service, await create(service))).toMatch(/PENDING|PROCESSING|COMPLETED/);
  await service.close();
  expect(lines).toEqual([]);
});

it("gives a client 10 s for its headers and 30 s for its request", () => {
  const server = createNodeServer(() => new Response(), new AbortController().signal);
  expect([server.headersTimeout, server.requestTimeout, server.keepAliveTimeout]).toEqual([
    10_000, 30_000, 65_000,
  ]);
});

it("closes a connection when the body has come, however often it is told to", async () => {
  const app = () => new Response("no", { status: 413, headers: { Connection: "close" } });
  const server = createNodeServer(app, new AbortController().signal).listen(0);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const client = connect({ port, allowHalfOpen: true });
  client.write("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n12345");
  const [socket] = await once(server, "connection");
  expect(String(await once(client, "data"))).toMatch(/^HTTP\/1\.1 413 /);
  await once(client, "end");
  socket.destroySoon();
  socket.destroySoon();
  expect(socket.destroyed).toBe(false);
  client.write("67890");
  await once(socket, "close");
  client.destroy();
  await promisify(server.close.bind(server))();
});

it.each(["before", "after"])("waits for no body that it refused %s it began to end", async (when) => {
  const app = () => new Response("no", { status: 413, headers: { Connection: "close" } });
  const closing = new AbortController();
  const server = createNodeServer(app, closing.signal).listen(0);
  await once(server, "listening");
  const client = connect({ port: (server.address() as AddressInfo).port, allowHalfOpen: true });
  const closed = once(server, "connection").then(([socket]) => once(socket, "close"));
  if (when === "after") closing.abort();
  client.write("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n12345");
  await once(client.resume(), "end");
  closing.abort();
  await closed;
  client.destroy();
  await promisify(server.close.bind(server))();
});

it("leaves a client that takes nothing of its answer", async () => {
  const body = "x".repeat(2 ** 25);
  const server = createNodeServer(() => new Response(body), new AbortController().signal, 50).listen(0);
  await once(server, "listening");
  const client = connect((server.address() as AddressInfo).port).pause();
  client.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const [socket] = await once(server, "connection");
  await once(socket, "close");
  client.destroy();
  await promisify(server.close.bind(server))();
});

it("answers to a host it was told to, and to no other", async () => {
  const { baseUrl } = await serviceFor({ allowHosts: ["Research.Example"] });
  const status = async (Host: string) =>
    (await ask(baseUrl, { path: "/openapi.json", headers: { Host } })).status;
  expect(await status("research.example:80")).toBe(200);
  expect(await status("other.example")).toBe(421);
});

it("closes once, and leaves no connection open", async () => {
  const close: Researcher = { ...instantResearcher(), close: async () => void closed.push("researcher") };
  const closed: string[] = [];
  const service = await serviceFor({ researcher: close });
  await create(service);
  await Promise.all([service.close(), service.close()]);
  expect(closed).toEqual(["researcher"]);
  await expect(ask(service.baseUrl, { path: "/" })).rejects.toMatchObject({
    code: expect.stringMatching(/^ECONN(REFUSED|RESET)$/),
  });
});

it("answers others while it checks a hostile schema, and goes on after a stop of it", async () => {
  const researcher = instantResearcher(() => `${"a".repeat(40)}!`);
  const service = await serviceFor({ researcher, workers: 2 });
  const output_schema = { type: "string", pattern: "^(a+)+$" };
  const hostile = await create(service, { structured_output: true, output_schema });
  const other = await create(service);
  expect(await final(service, other)).toBe("COMPLETED");
  expect(await stateOf(service, hostile)).toBe("PROCESSING");
  await post(service.baseUrl, `/api/v1/conversation/${hostile}/stop`, KEY);
  const next = await create(service, { structured_output: true, output_schema: { type: "string" } });
  expect(await final(service, next)).toBe("COMPLETED");
  expect(await stateOf(service, hostile)).toBe("STOPPED");
});
