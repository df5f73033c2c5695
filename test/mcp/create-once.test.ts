import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { type Behaviour, hang, ok, only, refuse } from "../support/behaviours.js";
import { InProcess } from "../support/in-process.js";
import { type Called, connectMcp } from "../support/mcp.js";
import { environment } from "../support/run.js";
import { until } from "../support/service.js";
import { jsonLines, type World, world } from "../support/world.js";

// A client may repeat a call for as long as it gets no answer. It must not pay twice.

const prompt = "How do tides form? => PROCESSING";

function creates({ service }: World): number {
  return service.server.of("create").filter(({ whole }) => whole).length;
}

/** Whether a server has taken the lock of a create, and so looks at what others have under way. */
function isWaiting({ env }: World): boolean {
  const folder = join(env.RESEARCH_STATE_DIR, "creates");
  return existsSync(folder) && readdirSync(folder).some((name) => name.endsWith(".lock"));
}

async function unknownOf({ research }: World): Promise<Record<string, unknown>[]> {
  const { stdout } = await research(["list", "--json"]);
  return (JSON.parse(stdout) as Record<string, unknown>[]).filter(({ status }) => status === "UNKNOWN");
}

/** When the server is killed: on its way to the POST, during it, and after its answer. */
const MOMENTS = [
  { what: "before the POST", sent: false, delayMs: 30 },
  { what: "during the POST", sent: true, delayMs: 0 },
  { what: "after the answer", sent: true, delayMs: 250 },
];

test.each(MOMENTS)(
  "killed $what, and called once more from a new server: never two POSTs",
  {
    timeout: 120_000,
  },
  async ({ sent, delayMs }) => {
    const rig = await world({ createMs: 150 });
    const first = await connectMcp({ ...rig, built: true });
    const call = first.call("research_create", { prompt }).catch(() => undefined);
    if (sent) await until(async () => (creates(rig) > 0 ? true : undefined), 20_000);
    await delay(delayMs);
    process.kill(first.pid, "SIGKILL");
    await call;
    await first.close();
    const second = await connectMcp(rig);
    const repeated = await second.call("research_create", { prompt });
    const allowed = ["reused", "OUTCOME_UNKNOWN", ...(sent ? [] : ["created"])];
    expect(allowed).toContain(await outcomeOf(repeated));
    if (repeated.isError) {
      const again = await second.call("research_create", { prompt, again: true });
      expect(await outcomeOf(again)).toBe("OUTCOME_UNKNOWN");
    }
    await second.close();
    if (sent) expect(creates(rig)).toBe(1);
    else expect(creates(rig)).toBeLessThanOrEqual(1);
  },
);

async function outcomeOf({ isError, content }: Called): Promise<string> {
  if (!isError) return content.reused ? "reused" : "created";
  const { code, local_id } = content.error as Record<string, string>;
  expect(local_id).toMatch(/^local-/);
  return code ?? "";
}

test("a client that gives each call up and repeats it makes one create", { timeout: 60_000 }, async () => {
  // Longer than an interrupted create has for its answer: a call that was given up interrupts none.
  const rig = await world({ createMs: 6_500 });
  const client = await connectMcp(rig);
  let calls = 0;
  const made = await until(async () => {
    calls++;
    return client.call("research_create", { prompt }, { timeout: 500 }).catch(() => undefined);
  });
  expect(calls).toBeGreaterThan(2);
  expect(made.content).toMatchObject({ reused: true, status: "PENDING" });
  expect(creates(rig)).toBe(1);
});

test("20 calls at once: equal ones make one create, others one each, and the limit holds", {
  timeout: 120_000,
}, async () => {
  const rig = await world({ createMs: 50 });
  const args = ["--tier", "free"];
  const [one, other] = [await connectMcp({ ...rig, args, built: true }), await connectMcp({ ...rig, args })];
  const same = await Promise.all(
    Array.from({ length: 20 }, (_, i) => (i % 2 ? one : other).call("research_create", { prompt })),
  );
  expect(new Set(same.map(({ content }) => content.request_id)).size).toBe(1);
  expect(same.filter(({ content }) => content.reused === false)).toHaveLength(1);
  expect(creates(rig)).toBe(1);

  const each = await Promise.all(
    Array.from({ length: 20 }, (_, i) =>
      (i % 2 ? one : other).call("research_create", { prompt: `question ${i} => PROCESSING` }),
    ),
  );
  const made = each.filter(({ isError }) => !isError);
  expect(made).toHaveLength(9);
  expect(new Set(made.map(({ content }) => content.request_id)).size).toBe(9);
  for (const { content } of each.filter(({ isError }) => isError))
    expect(content).toMatchObject({ error: { code: "RATE_LIMITED", exit_code: 7 } });
  expect(creates(rig)).toBe(10);
  const { stdout } = await rig.research(["list", "--json", "--limit", "100"]);
  expect(JSON.parse(stdout)).toHaveLength(10);
  await one.close();
  await other.close();
});

test("an unknown outcome is reported and never sent again until a person settles it", async () => {
  const rig = await world({
    fault: only("create", refuse(502, "BAD_GATEWAY"), 1),
  });
  // A command lost it, days ago for all the tool knows.
  expect((await rig.research(["create", prompt])).code).toBe(11);
  const client = await connectMcp(rig);
  for (const again of [undefined, true]) {
    const called = await client.call("research_create", { prompt, again });
    expect(called).toMatchObject({
      isError: true,
      content: { error: { code: "OUTCOME_UNKNOWN", exit_code: 11 } },
    });
  }
  expect(creates(rig)).toBe(1);
  const [unknown] = await unknownOf(rig);
  await rig.research(["resolve", String(unknown?.local_id), "--not-created"]);
  expect((await client.call("research_create", { prompt })).content).toMatchObject({ reused: false });
  expect(creates(rig)).toBe(2);
});

test("a create that a command has under way is waited for, and then it is the request", async () => {
  const answered = new AbortController();
  const released = new Promise((resolve) => answered.signal.addEventListener("abort", resolve));
  const made = { request_id: "id-1", status: "PENDING" };
  const held: Behaviour = {
    act: async (socket, request) => {
      await released;
      await ok(made).act(socket, request);
    },
  };
  const rig = await world({ fault: only("create", held) });
  const client = await connectMcp(rig);
  const command = rig.start(["create", prompt]);
  await until(async () => (creates(rig) > 0 ? true : undefined));
  const call = client.call("research_create", { prompt, again: true });
  await until(async () => isWaiting(rig) || undefined, 20_000);
  answered.abort();
  const { content } = await call;
  const { stdout } = await command.done;
  expect(content).toMatchObject({ request_id: stdout.trim(), reused: true });
  expect(creates(rig)).toBe(1);
});

test("a command that is killed while its create is waited for leaves an unknown outcome", async () => {
  const rig = await world({ fault: only("create", hang()) });
  const client = await connectMcp(rig);
  const command = rig.start(["create", prompt]);
  await until(async () => (creates(rig) > 0 ? true : undefined));
  const called = client.call("research_create", { prompt });
  await until(async () => isWaiting(rig) || undefined, 20_000);
  command.kill("SIGKILL");
  expect(await called).toMatchObject({ isError: true, content: { error: { code: "OUTCOME_UNKNOWN" } } });
  expect(creates(rig)).toBe(1);
});

test("stdin that ends during a create: the id is kept, and the server ends", async () => {
  const rig = await world({ createMs: 1_000 });
  const frames = [
    {
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } },
    },
    { id: 2, method: "tools/call", params: { name: "research_create", arguments: { prompt } } },
  ];
  const input = new PassThrough();
  for (const frame of frames) input.write(`${JSON.stringify({ jsonrpc: "2.0", ...frame })}\n`);
  const running = new InProcess(["mcp"], { env: environment(rig.home, rig.env), input });
  await until(async () => (creates(rig) > 0 ? true : undefined));
  input.end();
  const { code, stdout } = await running.done;
  expect(code).toBe(0);
  for (const line of jsonLines(stdout)) expect(line.jsonrpc).toBe("2.0");
  expect(await unknownOf(rig)).toEqual([]);
  const client = await connectMcp(rig);
  expect((await client.call("research_create", { prompt })).content).toMatchObject({ reused: true });
  expect(creates(rig)).toBe(1);
});
