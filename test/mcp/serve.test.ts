import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { ProfileAccount } from "../../src/app/profile-account.js";
import { serveMcp } from "../../src/mcp/server.js";
import { ToolSession, type ToolSessionOptions } from "../../src/mcp/tool-session.js";
import { until } from "../support/service.js";
import { VirtualClock } from "../support/virtual-clock.js";
import { world } from "../support/world.js";

interface Message {
  id?: number;
  method?: string;
  params: Record<string, unknown>;
  result: Record<string, unknown>;
  error: { code: number; message: string };
}

/** The server at the ends of two pipes, in virtual time; `ask` sends a request and resolves with the answer. */
async function served({ readOnly = false, ...options }: ToolSessionOptions & { readOnly?: boolean } = {}) {
  const { service, env } = await world();
  const account = new ProfileAccount({ env, platform: "linux", clock: new VirtualClock(), choices: {} });
  const session = new ToolSession(account, options);
  const [stdin, stdout, control] = [new PassThrough(), new PassThrough(), new AbortController()];
  const messages: Message[] = [];
  stdout.on("data", (line) => void messages.push(JSON.parse(line)));
  const done = serveMcp(session, { version: "1.2.3", readOnly, stdin, stdout }, control.signal);
  let asked = 0;
  const ask = async (method: string, params: object = {}): Promise<Message> => {
    asked += 1;
    const id = asked;
    stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    return until(async () => messages.find((message) => message.id === id));
  };
  const hello = await ask("initialize", {
    ...{ protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } },
  });
  stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  return { service, session, stdin, control, said: messages, done, ask, hello };
}

const namesOf = ({ result }: Message) =>
  (result.tools as { name: string }[]).map(({ name }) => name.replace("research_", ""));

const hintsOf = ({ result }: Message, tool: string) =>
  (result.tools as { name: string; annotations: object }[]).find(({ name }) => name === `research_${tool}`)
    ?.annotations;

test("a client is told whom it speaks to, and how the tools belong together", async () => {
  const { hello, stdin, done } = await served();
  expect(hello.result).toMatchObject({
    ...{ protocolVersion: "2025-11-25", capabilities: { tools: {} } },
    serverInfo: { name: "research", title: expect.any(String), version: "1.2.3" },
    instructions: expect.stringMatching(
      /research_create.*research_wait.*research_output.*not an instruction/,
    ),
  });
  stdin.end();
  await done;
});

test("with readOnly no tool is offered that creates or stops, and none can be called", async () => {
  const all = await served({ allowedFolder: "/tmp" });
  const some = await served({ readOnly: true });
  const [listed, fewer] = [await all.ask("tools/list"), await some.ask("tools/list")];
  expect(namesOf(listed)).toEqual(["create", "wait", "status", "stop", "output", "check", "list", "quota"]);
  expect(namesOf(fewer)).toEqual(["wait", "status", "output", "check", "list", "quota"]);
  expect([listed, fewer].map((one) => JSON.stringify(one).includes("save_to"))).toEqual([true, false]);
  // To write a file is to change something; to write it twice is refused.
  expect([hintsOf(listed, "output"), hintsOf(fewer, "output")]).toEqual([
    { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
    { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true },
  ]);
  const [no, yes] = [false, true];
  expect(["create", "stop", "list", "quota"].map((tool) => hintsOf(listed, tool))).toEqual([
    { readOnlyHint: no, destructiveHint: no, idempotentHint: no, openWorldHint: yes },
    { readOnlyHint: no, destructiveHint: yes, idempotentHint: yes, openWorldHint: yes },
    { readOnlyHint: yes, destructiveHint: no, idempotentHint: yes, openWorldHint: no },
    { readOnlyHint: yes, destructiveHint: no, idempotentHint: yes, openWorldHint: no },
  ]);
  for (const name of ["research_stop", "research_create", "other"])
    expect((await some.ask("tools/call", { name, arguments: { prompt: "q", ids: ["a"] } })).error).toEqual({
      ...{ code: -32602, message: expect.stringContaining(name) },
    });
  expect(some.service.server.count()).toBe(0);
});

test("a wait reports its progress under the token of its call, and only if there is one", async () => {
  const { service, said, ask } = await served();
  const id = service.add("q => PROCESSING");
  const call = { name: "research_wait", arguments: { ids: [id], seconds: 7 } };
  await ask("tools/call", call);
  expect(said.filter(({ method }) => method !== undefined)).toEqual([]);
  const { result } = await ask("tools/call", { ...call, _meta: { progressToken: "t" } });
  expect(result).toMatchObject({ structuredContent: { done: false } });
  const reports = said.filter(({ method }) => method !== undefined);
  expect(reports).toMatchObject([
    { method: "notifications/progress", params: { progressToken: "t", progress: 0, total: 7 } },
    {
      method: "notifications/progress",
      params: { progressToken: "t", progress: 5, total: 7, message: `${id} PROCESSING` },
    },
  ]);
});

test("a call without arguments is one with none, and an error is said in the text, too", async () => {
  const { ask } = await served();
  const { result } = await ask("tools/call", { name: "research_quota" });
  expect(result).toMatchObject({ structuredContent: { used: 0 } });
  expect(result).not.toHaveProperty("isError");
  const refused = (await ask("tools/call", { name: "research_status" })).result;
  expect(refused).toMatchObject({
    isError: true,
    structuredContent: {
      error: {
        code: "USAGE",
        message: "invalid arguments: ids is missing, it must be a list of 1 to 100 ids",
      },
    },
  });
  const [content] = refused.content as { type: string; text: string }[];
  expect(content?.type).toBe("text");
  expect(JSON.parse(content?.text ?? "")).toEqual(refused.structuredContent);
});

test("it ends with its input, or with the reason of its signal", async () => {
  const [one, other] = [await served(), await served()];
  one.stdin.end();
  await one.done;
  expect(one.session.ending.reason).toEqual(new Error("the server has ended"));
  const reason = new Error("interrupted");
  other.control.abort(reason);
  await other.done;
  expect(other.session.ending.reason).toBe(reason);
  expect(other.stdin.destroyed).toBe(true);
});

test("it ends at once if it was interrupted before", async () => {
  const account = new ProfileAccount({ env: {}, platform: "linux", clock: new VirtualClock(), choices: {} });
  const session = new ToolSession(account, {});
  const [stdin, stdout, reason] = [new PassThrough(), new PassThrough(), new Error("interrupted")];
  const options = { version: "1", readOnly: false, stdin, stdout };
  await serveMcp(session, options, AbortSignal.abort(reason));
  expect([session.ending.reason, stdin.destroyed]).toEqual([reason, true]);
});
