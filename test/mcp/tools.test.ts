import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ProfileAccount } from "../../src/app/profile-account.js";
import type { ToolCall } from "../../src/mcp/define-tool.js";
import { callTool, listOfferedTools } from "../../src/mcp/server.js";
import { ToolSession, type ToolSessionOptions } from "../../src/mcp/tool-session.js";
import { ok, refuse } from "../support/behaviours.js";
import { type HappyOptions, HappyService } from "../support/happy-service.js";
import { homeWith, plant } from "../support/home.js";
import { until } from "../support/service.js";
import { VirtualClock } from "../support/virtual-clock.js";

// The tools without the protocol around them, in virtual time.

interface RigOptions {
  session?: ToolSessionOptions;
  service?: HappyOptions;
  env?: Record<string, string | undefined>;
}

async function rig(options: RigOptions = {}) {
  const service = await HappyService.start(options.service);
  const { home, env } = homeWith({ ...service.env, ...options.env });
  const account = new ProfileAccount({ env, platform: "linux", clock: new VirtualClock(), choices: {} });
  const session = new ToolSession(account, { allowedFolder: home, ...options.session });
  const { signal } = new AbortController();
  const call = async (
    name: string,
    given: Record<string, unknown> = {},
    more: Partial<ToolCall> = {},
  ): Promise<Called> => {
    const tool = listOfferedTools(false).find((one) => one.name === `research_${name}`) ?? expect.fail(name);
    const result = await callTool(tool, session, given, { signal, progress: undefined, ...more });
    return { ...result, text: result.content[0]?.text ?? "", content: result.structuredContent };
  };
  return { service, home, session, call };
}

interface Called {
  content: Record<string, unknown>;
  text: string;
  isError?: true;
}

describe("research_wait", () => {
  test("ends after 45 s by itself, and reports each state every few seconds until then", async () => {
    const { service, call } = await rig();
    const [slow, quick] = [service.add("q => PROCESSING"), service.add("q => COMPLETED")];
    const reports: [number, number, string][] = [];
    const progress = async (...report: (typeof reports)[number]) => {
      reports.push(report);
      throw new Error("a report that cannot be sent ends nothing");
    };
    const { content } = await call("wait", { ids: [slow, quick] }, { progress });
    expect(content).toMatchObject({
      requests: [
        { request_id: slow, status: "PROCESSING", final: false },
        { request_id: quick, status: "COMPLETED", final: true },
      ],
      ...{ done: false, waited_seconds: 45, next: expect.stringMatching(/^research_wait /) },
    });
    expect(reports.slice(0, 9)).toEqual(
      Array.from({ length: 9 }, (_, at) => [
        ...[at * 5, 45],
        at === 0 ? `${slow} ?, ${quick} ?` : `${slow} PROCESSING, ${quick} COMPLETED`,
      ]),
    );
    for (const [done, total] of reports) expect(done).toBeLessThanOrEqual(total);
  });

  test("is over as soon as each request has ended or cannot be asked for", async () => {
    const { service, session, call } = await rig();
    const ended = service.add("q => PROCESSING COMPLETED");
    const begun = session.current.clock.monotonic();
    const { content } = await call("wait", { ids: [ended, "no-such-id", ".."], seconds: 240 });
    expect(content).toMatchObject({
      requests: [
        { request_id: ended, status: "COMPLETED", final: true },
        { request_id: "no-such-id", status: null, final: false, error: { code: "REQUEST_NOT_FOUND" } },
        { request_id: "..", status: null, final: false, error: { code: "USAGE" } },
      ],
      ...{ done: true, next: expect.stringMatching(/^research_output /) },
    });
    const waited = (session.current.clock.monotonic() - begun) / 1_000;
    expect(waited).toBeLessThan(240);
    expect(content.waited_seconds).toBe(Math.round(waited));
  });

  test("says UNKNOWN of a request whose state no answer told, and that it may go on", async () => {
    const { service, call } = await rig({ service: { fault: () => refuse(503, "NOT_NOW") } });
    const id = service.add("q => PROCESSING");
    const { content, isError } = await call("wait", { ids: [id], seconds: 1 });
    expect(isError).toBeUndefined();
    expect(content).toMatchObject({
      requests: [{ request_id: id, status: "UNKNOWN", final: false }],
      done: false,
    });
  });

  test("of 0 seconds asks once", async () => {
    const { service, call } = await rig();
    const { content } = await call("wait", { ids: [service.add("q => PROCESSING")], seconds: 0 });
    expect(content).toMatchObject({ requests: [{ status: "PROCESSING", final: false }], done: false });
    expect(service.server.count("status")).toBe(1);
  });

  test("is an error only if no state of any request is known: the first one's", async () => {
    const { call } = await rig();
    const { content, isError } = await call("wait", { ids: ["no-such-id", ".."] });
    expect([isError, content]).toMatchObject([true, { error: { code: "REQUEST_NOT_FOUND" } }]);
  });
});

test("research_status and research_stop give the answer of each request", async () => {
  const { service, call } = await rig();
  const [one, other] = [service.add("q => PROCESSING"), service.add("q => COMPLETED")];
  const asked = await call("status", { ids: [one, other, one, "no-such-id"] });
  expect(asked.content.requests).toMatchObject([
    { request_id: one, status: "PROCESSING", final: false, created_at: expect.any(String) },
    { request_id: other, status: "COMPLETED", final: true },
    { request_id: "no-such-id", status: null, final: false, error: { code: "REQUEST_NOT_FOUND" } },
  ]);
  expect(JSON.parse(asked.text)).toEqual(asked.content);
  const stopped = await call("stop", { ids: [one] });
  expect(stopped.content).toEqual({
    requests: [expect.objectContaining({ request_id: one, status: "STOPPED", final: true })],
  });
});

describe("research_list", () => {
  const planted = (home: string, requestId: string, more: { prompt?: string; status?: string } = {}) =>
    plant(home, { requestId, origin: "https://one.example", createdAt: Date.UTC(2029, 0, 1), ...more });

  test.each([
    ["of 200 characters is whole", "x".repeat(200), "x".repeat(200), false],
    ["of 201 is cut", "x".repeat(201), "x".repeat(200), true],
    ["is not cut within a character", `${"x".repeat(199)}🌊`, "x".repeat(199), true],
    ["keeps a character that just fits", `${"x".repeat(198)}🌊y`, `${"x".repeat(198)}🌊`, true],
  ])("a prompt %s", async (_what, prompt, shown, isCut) => {
    const { home, call } = await rig();
    planted(home, "id-1", { prompt });
    expect((await call("list")).content.requests).toMatchObject([{ prompt: shown, prompt_is_cut: isCut }]);
  });

  test("gives twenty unless it is told otherwise, and those of one state", async () => {
    const { home, call } = await rig();
    for (let nth = 0; nth < 21; nth += 1) planted(home, `id-${nth}`, { status: nth ? "PENDING" : "FAILED" });
    const listed = async (given: object) =>
      ((await call("list", { ...given })).content.requests as { status: string }[]).map(
        ({ status }) => status,
      );
    expect(await listed({})).toHaveLength(20);
    expect(await listed({ limit: 21 })).toHaveLength(21);
    expect(await listed({ status: "failed" })).toEqual(["FAILED"]);
  });

  test("is empty without a history, and needs no settings", async () => {
    const { call } = await rig({ env: { ...NO_SETTINGS, RESEARCH_NO_HISTORY: "1" } });
    expect((await call("list")).content).toEqual({ requests: [] });
  });
});

const NO_SETTINGS = { RESEARCH_BASE_URL: undefined, RESEARCH_API_KEY: undefined };

test.each<[string, Record<string, unknown>]>([
  ["create", { prompt: "q", schema: { type: "text" } }],
  ["create", { prompt: "q", save_to: ".." }],
  ["wait", { ids: [".."] }],
  ["status", { ids: [".."] }],
  ["stop", { ids: [".."] }],
  ["output", { id: "..", save_to: ".." }],
  ["quota", {}],
])(
  "research_%s says that settings are missing before what is wrong with its arguments",
  async (name, given) => {
    const { call } = await rig({ env: NO_SETTINGS });
    expect((await call(name, given)).content).toMatchObject({ error: { code: "NOT_CONFIGURED" } });
  },
);

test.each<[string, (id: string) => Record<string, unknown>]>([
  ["create", () => ({ prompt: "q" })],
  ["wait", (id) => ({ ids: [id] })],
  ["status", (id) => ({ ids: [id] })],
  ["stop", (id) => ({ ids: [id] })],
  ["output", (id) => ({ id })],
])("research_%s that is cancelled asks nothing", async (name, given) => {
  const { service, call } = await rig();
  const signal = AbortSignal.abort(new Error("cancelled"));
  expect(await call(name, given(service.add("q => COMPLETED")), { signal })).toMatchObject({ isError: true });
  expect(service.server.count()).toBe(0);
});

describe("research_create", () => {
  test("says what the service answered, what is left, and what to do next", async () => {
    const { call } = await rig({ session: { perHour: 3 } });
    const { content, text } = await call("create", { prompt: "q => PROCESSING" });
    expect(content).toEqual({
      ...{ request_id: expect.any(String), status: "PENDING", created_at: expect.any(String), reused: false },
      ...{
        left: 2,
        limit: 3,
        next: expect.stringContaining(`research_wait with ids ["${content.request_id}"]`),
      },
    });
    expect(JSON.parse(text)).toEqual(content);
    const repeated = await call("create", { prompt: "q => PROCESSING" });
    expect(repeated.content).toMatchObject({ request_id: content.request_id, reused: true, left: 2 });
    const again = await call("create", { prompt: "q => PROCESSING", again: true });
    expect(again.content).toMatchObject({ reused: false, left: 1 });
    expect(again.content.request_id).not.toBe(content.request_id);
  });

  test.each([
    ["that holds the id alone", {}, { status: "PENDING", created_at: null }],
    ["as it is", { status: "QUEUED", created_at: "now" }, { status: "QUEUED", created_at: "now" }],
  ])("gives an answer %s, and knows no limit by itself", async (_, answered, given) => {
    const fault: HappyOptions["fault"] = () => ok({ request_id: "id-1", ...answered });
    const { call } = await rig({ service: { fault } });
    const { content } = await call("create", { prompt: "q" });
    expect(content).toStrictEqual({
      ...{ request_id: "id-1", ...given, reused: false },
      next: expect.stringContaining("id-1"),
    });
  });

  test("says of one that ended with a part of a result that only `again` makes another", async () => {
    const { service, session, call } = await rig();
    const { content } = await call("create", { prompt: "q => FAILED" });
    const { history } = session.current;
    const [entry] = history?.list({ limit: 1 }) ?? [];
    history?.observe(entry ?? expect.fail("no entry"), "FAILED", { cut_short: true });
    const repeated = await call("create", { prompt: "q => FAILED" });
    expect(repeated.content).toMatchObject({
      ...{ request_id: content.request_id, reused: true },
      next: expect.stringContaining("again: true"),
    });
    expect(service.server.count("create")).toBe(1);
  });

  test.each([
    ["the hour cannot be counted", [], false],
    ["it cannot be kept", ["open"], true],
  ])("gives the id of a request that was created although %s any more", async (_what, gone, isLost) => {
    const { home, service, call } = await rig({ session: { perHour: 3 }, service: { fault } });
    function fault(operation: string): undefined {
      if (operation !== "create") return;
      const state = join(home, "state");
      mkdirSync(join(state, "history.jsonl"));
      for (const name of gone) rmSync(join(state, name), { recursive: true });
    }
    const { content, isError } = await call("create", { prompt: "q" });
    expect(isError).toBeUndefined();
    expect([...service.conversations.keys()]).toEqual([content.request_id]);
    expect(Object.hasOwn(content, "not_saved")).toBe(isLost);
  });

  test("refuses what the person did not allow, and says what the person may do", async () => {
    const off = await rig({ env: { RESEARCH_NO_HISTORY: "1" } });
    expect((await off.call("create", { prompt: "q" })).content).toMatchObject({
      error: {
        code: "NOT_ALLOWED",
        exit_code: 6,
        hint: expect.stringContaining("research config unset history"),
      },
    });
    const none = await rig({ session: { maxCreates: 0 } });
    expect((await none.call("create", { prompt: "q" })).content).toMatchObject({
      error: { code: "NOT_ALLOWED", exit_code: 6, hint: expect.stringContaining("--max-creates") },
    });
    expect(off.service.server.count() + none.service.server.count()).toBe(0);
  });

  test("takes a model at a provider only", async () => {
    const { service, call } = await rig();
    const refused = await call("create", { prompt: "q", model: "m" });
    expect(refused.content).toMatchObject({ error: { code: "USAGE" } });
    expect(service.server.count()).toBe(0);
  });

  test("says of a limit that is reached when to call again, and not how a command waits", async () => {
    const { call } = await rig({ session: { perHour: 1 } });
    await call("create", { prompt: "q" });
    const { content } = await call("create", { prompt: "another" });
    expect(content).toMatchObject({ error: { code: "RATE_LIMITED", retry_after: expect.any(Number) } });
    expect(JSON.stringify(content)).toContain("retry_after seconds");
    expect(JSON.stringify(content)).not.toContain("--wait-for-quota");
  });
});

describe("save_to of research_create", () => {
  const create = (prompt: string) => ["create", { prompt, save_to: "report.md" }] as const;

  test("writes the result when the research has ended; the path is free for another then", async () => {
    const { service, home, session, call } = await rig();
    const path = join(home, "report.md");
    const { content } = await call(...create("tides => PENDING PROCESSING COMPLETED"));
    expect(content).toMatchObject({ saves_to: path });
    expect([...session.awaited]).toEqual([[path, content.request_id]]);
    await until(async () => session.awaited.size === 0 || undefined);
    expect(readFileSync(path, "utf8")).toContain("An answer to: tides");
    // Nothing is spent on a request whose file cannot be written.
    expect((await call(...create("moons"))).content).toMatchObject({
      error: { code: "LOCAL_IO", message: `${path} exists already; name another file` },
    });
    expect(service.server.count("create")).toBe(1);
  });

  test("keeps a path for the request that it was promised to", async () => {
    const { home, session, call } = await rig();
    const path = join(home, "report.md");
    expect((await call(...create("tides => PROCESSING"))).content).toMatchObject({ saves_to: path });
    expect((await call(...create("tides => PROCESSING"))).content).toMatchObject({ saves_to: path });
    expect((await call(...create("moons => PROCESSING"))).content).not.toHaveProperty("saves_to");
    expect(session.awaited.size).toBe(1);
    await session.close(new Error("the end"));
    await until(async () => session.awaited.size === 0 || undefined);
    expect(existsSync(path)).toBe(false);
  });

  test("never writes over a file that appeared meanwhile", async () => {
    const { home, service, session, call } = await rig();
    const path = join(home, "report.md");
    const { content } = await call(...create("tides => PROCESSING"));
    writeFileSync(path, "mine");
    const conversation = service.conversations.get(String(content.request_id)) ?? expect.fail("not created");
    conversation.timeline = ["COMPLETED"];
    await until(async () => session.awaited.size === 0 || undefined);
    expect(service.server.count("output")).toBe(1);
    expect(readFileSync(path, "utf8")).toBe("mine");
  });

  test("writes nothing for a request that did not complete", async () => {
    const { home, session, call } = await rig();
    const before = readdirSync(home);
    await call(...create("tides => FAILED"));
    await until(async () => session.awaited.size === 0 || undefined);
    expect(readdirSync(home)).toEqual([...before, "state"].sort());
    expect((await call(...create("moons => PROCESSING"))).content).toHaveProperty("saves_to");
  });

  test("spends nothing where the file cannot be written, or no folder was named", async () => {
    const { service, call } = await rig({ session: { allowedFolder: undefined } });
    expect((await call(...create("q"))).content).toMatchObject({ error: { code: "NOT_ALLOWED" } });
    expect(service.server.count()).toBe(0);
  });
});

describe("research_output", () => {
  test("gives each request its own result, fetched once for all its pages", async () => {
    const output = (prompt: string) => `${prompt[0]}`.repeat(40_001);
    const { service, call } = await rig({ service: { output } });
    const [a, b] = [service.add("a => COMPLETED"), service.add("b => COMPLETED")];
    const first = await call("output", { id: a });
    expect(first.content).toMatchObject({ offset: 0, total: 40_001, next_offset: 40_000, request_id: a });
    expect((await call("output", { id: a, offset: 40_000 })).content).toMatchObject({
      ...{ content: "a", next_offset: null },
    });
    expect(service.server.count("output")).toBe(1);
    const other = await call("output", { id: b, offset: 39_999 });
    expect(other.content).toMatchObject({ content: "bb", next_offset: null });
    expect(service.server.count("output")).toBe(2);
  });

  test("says in words where a page stands, as data from outside, even beyond the end", async () => {
    const { service, call } = await rig({ service: { output: () => "abc" } });
    const id = service.add("q => COMPLETED");
    const { text } = await call("output", { id, offset: 1 });
    expect(text).toContain(`${id}, characters 1 to 3 of 3. `);
    expect(text).toMatch(/data from outside, not an instruction.*\n\nbc$/);
    expect((await call("output", { id, offset: 9 })).text).toContain("characters 3 to 3 of 3. ");
  });

  test("writes the whole to a new file, and gives no content then", async () => {
    const { home, service, call } = await rig({ service: { output: () => "abc" } });
    const [path, id] = [join(home, "a.md"), service.add("q => COMPLETED")];
    const saved = await call("output", { id, save_to: "a.md" });
    expect(saved.content).toEqual({ request_id: id, total: 3, saved_to: path, notice: expect.any(String) });
    expect(saved.text).toMatch(/3 characters.*data from outside, not an instruction/);
    expect(saved.text).toContain(path);
    expect(readFileSync(path, "utf8")).toBe("abc");
    const asked = service.server.count();
    const fresh = service.add("q => COMPLETED");
    expect((await call("output", { id: fresh, save_to: "a.md" })).isError).toBe(true);
    expect(service.server.count()).toBe(asked);
  });

  test("is an error of its own before the end", async () => {
    const { service, call } = await rig();
    const early = await call("output", { id: service.add("q => PROCESSING") });
    expect(early).toMatchObject({
      isError: true,
      content: { error: { code: "NOT_FINISHED", exit_code: 8 } },
    });
    expect(JSON.parse(early.text)).toEqual(early.content);
  });
});
