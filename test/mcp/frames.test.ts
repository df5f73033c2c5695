import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { InProcess } from "../support/in-process.js";
import { connectMcp } from "../support/mcp.js";
import { environment } from "../support/run.js";
import { until } from "../support/service.js";
import { jsonLines, type World, world } from "../support/world.js";

const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } },
};

/** The server in this process; `waitFor` waits until it has written what fits. */
function served({ home, env }: World) {
  const stdin = new PassThrough();
  const program = new InProcess(["mcp"], { env: environment(home, env), input: stdin });
  const waitFor = (pattern: RegExp) => until(async () => pattern.test(program.stdout) || undefined);
  return { stdin, done: program.done, waitFor };
}

test("what is invalid is answered as JSON-RPC says, and ends nothing", async () => {
  const rig = await world();
  const { stdin, done, waitFor } = served(rig);
  const invalid = [
    ['{"broken', null, -32700],
    ["[]", null, -32600],
    ['{"jsonrpc":"2.0","id":7,"method":8}', 7, -32600],
  ] as const;
  for (const [line] of invalid) stdin.write(`${line}\n`);
  const text = `${JSON.stringify(INITIALIZE)}\n`;
  for (const piece of [text.slice(0, 7), text.slice(7, 60), text.slice(60)]) {
    stdin.write(piece);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await waitFor(/"id":1\b/);
  stdin.write('{"jsonrpc":"2.0","id":2,"method":"prompts/list"}\n');
  stdin.write(
    '{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"research_list","arguments":[]}}\n',
  );
  await waitFor(/"id":3/);
  stdin.end();
  const { code, stdout } = await done;
  expect(code).toBe(0);
  const answers = jsonLines(stdout) as { id: unknown; error?: { code: number } }[];
  expect(answers.slice(0, invalid.length).map(({ id, error }) => [id, error?.code])).toEqual(
    invalid.map(([, id, code]) => [id, code]),
  );
  expect(answers.slice(invalid.length)).toMatchObject([
    { id: 1, result: {} },
    { id: 2, error: { code: -32601 } },
    { id: 3, result: { isError: true, structuredContent: { error: { code: "USAGE" } } } },
  ]);
});

test("a schema is sent exactly as it came, however its frame is cut", async () => {
  const rig = await world();
  const { stdin, done, waitFor } = served(rig);
  const schema =
    '{"maximum":12345678901234567890,"exclusiveMaximum":1e400,"minimum":-0,"a":1.0,"a":"\\u00e9"}';
  const call = (id: unknown, name: string) =>
    `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"method":"tools/call","params":{"name":"${name}","arguments":{"prompt":"${id} => PROCESSING","schema" : ${schema}}}}\n`;
  stdin.write(`${JSON.stringify(INITIALIZE)}\n`);
  await waitFor(/"id":1/);
  const text = `${call(2, "no_such_tool")}${call("two", "research_create")}${call(3, "research_create")}`;
  for (const piece of [text.slice(0, 120), text.slice(120, 400), text.slice(400)]) {
    stdin.write(piece);
    await new Promise((resolve) => setImmediate(resolve));
  }
  for (const id of [/"id":"two"/, /"id":3/]) await waitFor(id);
  stdin.end();
  await done;
  const bodies = rig.service.server.of("create").map(({ body }) => body.toString("utf8"));
  expect(bodies).toHaveLength(2);
  for (const body of bodies) expect(body).toContain(`"output_schema":${schema}}`);
});

test("tools/list: what each tool does to the world, and what it costs a model to read it", async () => {
  const client = await connectMcp(await world());
  const tools = (await client.tools()) as {
    name: string;
    inputSchema: { required?: string[]; properties: object };
    outputSchema: { properties: object };
    annotations: Record<"readOnlyHint" | "destructiveHint" | "idempotentHint" | "openWorldHint", boolean>;
  }[];
  const named = (hint: keyof (typeof tools)[number]["annotations"]) =>
    tools.filter(({ annotations }) => annotations[hint]).map(({ name }) => name.replace("research_", ""));
  expect(named("destructiveHint")).toEqual(["stop"]);
  expect(named("readOnlyHint")).toEqual(["wait", "status", "output", "check", "list", "quota"]);
  expect(named("idempotentHint")).toEqual(["wait", "status", "stop", "output", "check", "list", "quota"]);
  expect(named("openWorldHint")).toEqual(["create", "wait", "status", "stop", "output", "check"]);
  const required = tools.map(({ name, inputSchema }) => [
    name.replace("research_", ""),
    inputSchema.required,
  ]);
  expect(Object.fromEntries(required)).toEqual({
    ...{ create: ["prompt"], output: ["id"], wait: ["ids"], status: ["ids"], stop: ["ids"] },
    ...{ check: ["id"], list: undefined, quota: undefined },
  });
  for (const { inputSchema } of tools) expect(inputSchema).toMatchObject({ additionalProperties: false });
  for (const { outputSchema } of tools) expect(outputSchema.properties).toHaveProperty("error");
  expect(JSON.stringify(tools).length).toBeLessThan(8_400);
});
