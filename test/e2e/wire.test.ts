import { expect, test } from "vitest";
import type { SeenRequest } from "../support/request-reader.js";
import { world } from "../support/world.js";

/** What HTTP itself wants, and a name; no header beside these and those of §4 may be sent. */
const GENERIC = new Set(["host", "connection", "accept", "user-agent", "content-length"]);

/** The request line, the headers that mean something to the service (name in lower case, sorted), and the body. */
function literal(request: SeenRequest | undefined): string {
  if (!request) return "no request";
  const [line, ...fields] = request.head.trimEnd().split("\r\n");
  const headers = fields
    .map((field) => field.replace(/^[^:]+/, (name) => name.toLowerCase()))
    .filter((field) => !GENERIC.has(field.split(":")[0] ?? ""))
    .sort();
  return [line, ...headers, "", request.body.toString("latin1")].join("\r\n");
}

const latin1 = (text: string) => Buffer.from(text, "utf8").toString("latin1");

/** A request of the interface: a POST with its content type, a GET without. */
const wire = (line: string, body = "") => {
  const type = line.startsWith("POST") ? ["content-type: application/json"] : [];
  return [`${line} HTTP/1.1`, "authorization: Bearer sk-test-sentinel-4242", ...type, "", body].join("\r\n");
};

const SCHEMA = '{"type":"object","properties":{"names":{"type":"array","items":{"type":"string"}}}}';

// exact-json.test.ts has a schema in a file and on stdin.
test.each([
  [
    "the prompt and nothing else",
    ['Why is "π" 3.14 \\ not 3? 🥧'],
    '{"prompt":"Why is \\"π\\" 3.14 \\\\ not 3? 🥧"}',
  ],
  ["no schema with --structured", ["--structured", "x"], '{"prompt":"x","structured_output":true}'],
  [
    "both fields with --schema",
    ["x", "--schema", SCHEMA],
    `{"prompt":"x","structured_output":true,"output_schema":${SCHEMA}}`,
  ],
])("create sends %s", async (_, words, body) => {
  const { research, service } = await world();
  expect(await research(["create", ...words])).toMatchObject({ code: 0 });
  expect(service.server.count("create")).toBe(1);
  const [request] = service.server.of("create");
  expect(literal(request)).toBe(wire("POST /api/v1/conversations", latin1(body)));
  expect(request?.headers.host).toBe(`127.0.0.1:${service.server.port}`);
  expect(request?.headers["content-length"]).toBe(String(request?.body.length));
  expect(request?.headers.accept).toMatch(/application\/json|\*\/\*/);
});

test("stop sends its content type and no body", async () => {
  const here = await world();
  const id = here.service.add("x");
  expect(await here.research(["stop", id])).toMatchObject({ code: 0, stdout: `${id}\tSTOPPED\n` });
  const [request] = here.service.server.requests;
  expect(literal(request)).toBe(wire(`POST /api/v1/conversation/${id}/stop`));
  expect(request?.headers["content-length"] ?? "0").toBe("0");
  expect(request?.headers["transfer-encoding"]).toBeUndefined();
});

test("status and output are GETs of the singular path, without a content type", async () => {
  const here = await world();
  const id = here.service.add("x => COMPLETED");
  expect(await here.research(["status", id])).toMatchObject({ code: 0 });
  expect(await here.research(["output", id])).toMatchObject({ code: 0 });
  expect(here.service.server.requests.map(literal)).toEqual([
    wire(`GET /api/v1/conversation/${id}/status`),
    wire(`GET /api/v1/conversation/${id}/output`),
  ]);
});

test("what the interface does not show is sent as the settings say", async () => {
  const here = await world();
  const id = here.service.add("x => COMPLETED");
  const settings = [
    ["status-method", "POST"],
    ["output-method", "POST"],
    ["output-path", "/api/v1/results/{request_id}/text"],
  ];
  for (const [key = "", value = ""] of settings)
    expect(await here.research(["config", "set", key, value])).toMatchObject({ code: 0 });
  await here.research(["status", id]);
  await here.research(["output", id]);
  const lines = here.service.server.requests.map((request) => literal(request).split("\r\n")[0]);
  expect(lines.slice(0, 2)).toEqual([
    `POST /api/v1/conversation/${id}/status HTTP/1.1`,
    `POST /api/v1/results/${id}/text HTTP/1.1`,
  ]);
});

test.each(["/prefix", "/prefix/", "/a/b/"])("a base URL with the path %s keeps it", async (path) => {
  const here = await world();
  const env = { RESEARCH_BASE_URL: here.service.url + path };
  const created = await here.research(["create", "x => COMPLETED"], { env });
  expect(created).toMatchObject({ code: 0 });
  const id = created.stdout.trim();
  for (const verb of ["status", "output", "stop"]) await here.research([verb, id], { env });
  const prefix = path.replace(/\/$/, "");
  const lines = here.service.server.requests.map((request) => literal(request).split("\r\n")[0]);
  expect(lines.slice(0, 4)).toEqual([
    `POST ${prefix}/api/v1/conversations HTTP/1.1`,
    `GET ${prefix}/api/v1/conversation/${id}/status HTTP/1.1`,
    `GET ${prefix}/api/v1/conversation/${id}/output HTTP/1.1`,
    `POST ${prefix}/api/v1/conversation/${id}/stop HTTP/1.1`,
  ]);
});
