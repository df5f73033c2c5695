import { expect, test } from "vitest";
import { described, offered } from "../../src/mcp/call-tool.js";
import type { Session } from "../../src/mcp/tool.js";
import { connectMcp } from "../support/mcp.js";
import { jsonLines, world } from "../support/world.js";

const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } },
};

test("frames that are no JSON, no request, or come in pieces end nothing", async () => {
  const rig = await world();
  const running = rig.start(["mcp"], { openInput: true });
  const { stdin } = running.child;
  stdin.write('{"broken\n[]\n"text"\n{"jsonrpc":"2.0","id":{}}\n\u0000\n\n');
  const text = `${JSON.stringify(INITIALIZE)}\n`;
  for (const piece of [text.slice(0, 7), text.slice(7, 60), text.slice(60)]) {
    stdin.write(piece);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await running.waitFor(/"id":1/);
  stdin.write(
    '{"jsonrpc":"2.0","id":2,"method":"prompts/list"}\n{"jsonrpc":"2.0","id":3,"method":"tools/list"}\n',
  );
  await running.waitFor(/"id":3/);
  stdin.end();
  const { code, stdout } = await running.done;
  expect(code).toBe(0);
  const answers = new Map(jsonLines(stdout).map((line) => [line.id, line]));
  expect(answers.get(2)).toMatchObject({ error: { code: -32601 } });
  expect(answers.get(3)).toHaveProperty("result.tools");
});

test("a schema is sent exactly as it came, however its frame is cut", async () => {
  const rig = await world();
  const running = rig.start(["mcp"], { openInput: true });
  const schema =
    '{"maximum":12345678901234567890,"exclusiveMaximum":1e400,"minimum":-0,"a":1.0,"a":"\\u00e9"}';
  const call = (id: unknown, name: string) =>
    `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"method":"tools/call","params":{"name":"${name}","arguments":{"prompt":"${id} => PROCESSING","schema" : ${schema}}}}\n`;
  running.child.stdin.write(`${JSON.stringify(INITIALIZE)}\n`);
  await running.waitFor(/"id":1/);
  const text = `${call(2, "no_such_tool")}${call("two", "research_create")}${call(3, "research_create")}`;
  for (const piece of [text.slice(0, 120), text.slice(120, 400), text.slice(400)]) {
    running.child.stdin.write(piece);
    await new Promise((resolve) => setImmediate(resolve));
  }
  for (const id of [/"id":"two"/, /"id":3/]) await running.waitFor(id);
  running.child.stdin.end();
  await running.done;
  const bodies = rig.service.server.of("create").map(({ body }) => body.toString("utf8"));
  expect(bodies).toHaveLength(2);
  for (const body of bodies) expect(body).toContain(`"output_schema":${schema}}`);
});

test.each([true, false])(
  "a frame of 64 MiB ends it in good order (the input ends: %j)",
  { timeout: 60_000 },
  async (ends) => {
    const rig = await world();
    const running = rig.start(["mcp"], { openInput: true, timeoutMs: 50_000 });
    running.child.stdin.write(`${JSON.stringify(INITIALIZE)}\n`);
    await running.waitFor(/"id":1/);
    running.child.stdin.write(
      `{"jsonrpc":"2.0","id":2,"method":"${"x".repeat(ends ? 64 << 20 : 16 << 20)}"}\n`,
    );
    if (ends) running.child.stdin.end();
    const { code, signal, stdout } = await running.done;
    expect({ code, signal }).toEqual({ code: 0, signal: null });
    for (const line of jsonLines(stdout)) expect(line.jsonrpc).toBe("2.0");
  },
);

test("tools/list is as it was", async () => {
  const session = { allowedFolder: undefined } as Session;
  const tools = offered(false).map((tool) => described(tool, session));
  await expect(`${JSON.stringify(tools, null, 2)}\n`).toMatchFileSnapshot("tools.txt");
  const destructive = tools.filter(({ annotations }) => annotations.destructiveHint);
  expect(destructive.map(({ name }) => name)).toEqual(["research_stop"]);
  const client = await connectMcp(await world());
  expect(await client.tools()).toEqual(JSON.parse(JSON.stringify(tools)));
  await client.close();
});

test("its flags are those of `help --json`", async () => {
  const { research } = await world();
  const { commands } = JSON.parse((await research(["help", "--json"])).stdout);
  const mcp = commands.find(({ name }: { name: string }) => name === "mcp");
  const text = JSON.stringify(mcp);
  for (const flag of [
    "--tier",
    "--per-hour",
    "--read-only",
    "--max-creates",
    "--allow-dir",
    "--print-config",
  ])
    expect(text).toContain(flag);
});
