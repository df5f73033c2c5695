import { execFileSync, spawn } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  AbortedError,
  openResearch,
  parseExact,
  ResearchError,
  SchemaMismatchError,
  type StandardSchema,
  type Submission,
} from "../../src/index.js";
import { answer } from "../support/behaviours.js";
import { requireBuild } from "../support/build.js";
import { faultServer } from "../support/fault-server.js";
import { folderWith } from "../support/folder.js";
import { type HappyOptions, HappyService } from "../support/happy-service.js";
import { foldersIn } from "../support/home.js";
import { closeLater } from "../support/machine.js";
import { NODE } from "../support/run.js";

const CREATED = answer({
  body: '{"status":true,"version":"1.0.0","data":{"request_id":"id-1","status":"PENDING"}}',
});

function researchIn(env: Record<string, string | undefined>) {
  const research = openResearch({ env });
  closeLater(() => research.close());
  return research;
}

async function opened(env: Record<string, string>) {
  const server = await faultServer(() => CREATED);
  const folders = foldersIn(folderWith());
  return { server, research: researchIn({ ...folders, RESEARCH_BASE_URL: server.url, ...env }) };
}

test("a key may come out of a FIFO", async () => {
  const folder = folderWith();
  execFileSync("mkfifo", [join(folder, "fifo")]);
  const { server, research } = await opened({ RESEARCH_API_KEY_FILE: join(folder, "fifo") });
  spawn("sh", ["-c", "echo key-12345678 > fifo"], { cwd: folder });
  await research.submit("x");
  await research.submit("y");
  expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(
    Array(2).fill("Bearer key-12345678"),
  );
});

test("a schema is sent as exactly as JavaScript holds it", async () => {
  const { server, research } = await opened({ RESEARCH_API_KEY: "key-12345678" });
  await research.submit({ prompt: "x", schema: { minimum: -0, maximum: 1e21 } });
  expect(server.requests[0]?.body.toString()).toContain('"output_schema":{"minimum":-0,"maximum":1e+21}');
});

test("a schema that parseExact has read is sent as it stands", async () => {
  const { server, research } = await opened({ RESEARCH_API_KEY: "key-12345678" });
  const schema = '{"maximum":12345678901234567890,"minimum":-0,"a":1.0,"a":2}';
  await research.submit({ prompt: "x", schema: parseExact(schema) as Record<string, unknown> });
  expect(server.requests[0]?.body.toString()).toContain(`"output_schema":${schema}`);
});

async function happy(options: HappyOptions = {}) {
  const service = await HappyService.start(options);
  const env = { ...foldersIn(folderWith()), ...service.env };
  return { service, env, research: researchIn(env) };
}

/** The error that a promise rejects with. */
async function rejection(promise: Promise<unknown>): Promise<ResearchError> {
  const error = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(error).toBeInstanceOf(ResearchError);
  return error as ResearchError;
}

test("an aborted run names its request, which goes on", async () => {
  const { service, research } = await happy();
  const abort = new AbortController();
  const reason = new Error("enough");
  const created: Submission[] = [];
  const error = await rejection(
    research.run("q => PROCESSING", {
      signal: abort.signal,
      onCreated: async (submission) => {
        created.push(submission);
        abort.abort(reason);
      },
    }),
  );
  const [requestId] = service.conversations.keys();
  expect(error).toBeInstanceOf(AbortedError);
  expect(error).toMatchObject({ name: "AbortError", code: "INTERRUPTED", requestId, cause: reason });
  expect(created).toMatchObject([{ requestId, localId: expect.stringMatching(/^local-/) }]);
  expect(service.server.count("stop")).toBe(0);
});

test("a run that was aborted before it was sent rejects with the reason, and sends nothing", async () => {
  const { service, research } = await happy();
  const reason = new Error("never mind");
  await expect(research.run("q", { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  expect(service.server.count()).toBe(0);
});

test("a watch ends for a request that it gives up, with an event that has the error", async () => {
  const { research } = await happy();
  const events = [];
  for await (const event of research.watch("no-such-id", { patience: 1, answered: true })) events.push(event);
  const error = expect.objectContaining({ code: "REQUEST_NOT_FOUND" });
  expect(events.at(-1)).toMatchObject({ kind: "given-up", requestId: "no-such-id", status: null, error });
});

test("a run out of time names its request", async () => {
  const { service, research } = await happy();
  const error = await rejection(research.run("q => PROCESSING", { timeout: 1 }));
  const [requestId] = service.conversations.keys();
  expect(error).toMatchObject({ code: "TIMEOUT", requestId });
  expect(await research.list()).toEqual([
    {
      ...{
        requestId,
        localId: expect.stringMatching(/^local-/),
        status: "PROCESSING",
        prompt: "q => PROCESSING",
      },
      ...{ createdAt: expect.any(String), sentAt: expect.any(String), origin: service.url },
    },
  ]);
});

test("what a schema refuses is named with its path", async () => {
  const { research } = await happy({ output: () => ({ peaks: [{ metres: "high" }] }) });
  const path = ["peaks", { key: 0 }, "metres"];
  const schema: StandardSchema<never> = {
    "~standard": {
      version: 1,
      vendor: "test",
      validate: () => ({ issues: [{ message: "no number", path }] }),
    },
  };
  const error = await rejection(research.run("q", { schema }));
  expect(error).toBeInstanceOf(SchemaMismatchError);
  expect(error).toMatchObject({
    code: "SCHEMA_MISMATCH",
    requestId: expect.any(String),
    issues: [{ message: "no number", path: ["peaks", 0, "metres"] }],
    message: expect.stringMatching(/does not fit: peaks\.0\.metres: no number$/),
  });
});

test.each([
  ["a blank prompt", " \n", {}, "USAGE"],
  ["a prompt over 1 MiB", "x".repeat((1 << 20) + 1), {}, "USAGE"],
  ["an invalid schema", { prompt: "q", schema: { type: "text" } }, {}, "USAGE"],
  ["no base URL", "q", { RESEARCH_BASE_URL: undefined }, "NOT_CONFIGURED"],
  ["an invalid base URL", "q", { RESEARCH_BASE_URL: "ftp://x" }, "USAGE"],
  ["no key", "q", { RESEARCH_API_KEY: undefined }, "NOT_AUTHENTICATED"],
  ["a history that cannot be written", "q", { RESEARCH_STATE_DIR: "/dev/null/x" }, "LOCAL_IO"],
])("%s: an error with its code, and nothing is sent", async (_what, request, change, code) => {
  const { service, env } = await happy();
  const research = researchIn({ ...env, ...change });
  expect(await rejection(research.submit(request))).toMatchObject({ code });
  const batch = research.batch([request], { out: folderWith() });
  if (code !== "LOCAL_IO") expect(await rejection(batch.next())).toMatchObject({ code });
  expect(service.server.count()).toBe(0);
});

test.each([{ perHour: 0 }, { perHour: 1.5 }, { tier: "gold" as never }])(
  "%j: is no limit, and nothing is sent",
  async (limit) => {
    const { service, env } = await happy();
    const research = openResearch({ env, ...limit });
    expect(await rejection(research.submit("q"))).toMatchObject({ code: "USAGE" });
    expect(service.server.count()).toBe(0);
  },
);

test("a prompt of 1 MiB is sent", async () => {
  const { service, research } = await happy();
  await research.submit("x".repeat(1 << 20));
  expect(service.server.count("create")).toBe(1);
});

test("what no request is named by, and a used-up hour, have codes", async () => {
  const { env } = await happy();
  const research = openResearch({ env, perHour: 1 });
  expect(await rejection(research.output("@last"))).toMatchObject({ code: "NOT_FOUND" });
  await research.submit("q");
  expect(await rejection(research.submit("r"))).toMatchObject({
    code: "RATE_LIMITED",
    retryAfter: expect.any(Number),
  });
  await research[Symbol.asyncDispose]();
});

test("close() ends a wait for the hour", async () => {
  const { env } = await happy();
  const research = openResearch({ env, perHour: 1 });
  await research.submit("q");
  const waiting = rejection(research.submit("r", { waitForQuota: true }));
  await research.close();
  expect(await waiting).toMatchObject({ code: "INTERRUPTED" });
});

test("a process that left a watch ends after close()", async () => {
  const { service, env } = await happy();
  const id = service.add("q => PROCESSING");
  requireBuild();
  const program = `
    import { openResearch } from ${JSON.stringify(join(import.meta.dirname, "../../dist/index.js"))};
    const research = openResearch();
    await research.watch(${JSON.stringify(id)}).next();
    await research.close();`;
  // Killed after this long, it has no exit code.
  const child = spawn(NODE, ["--input-type=module", "-e", program], {
    env: { ...process.env, ...env },
    timeout: 60_000,
  });
  const code = await new Promise((resolve) => child.once("exit", resolve));
  expect(code).toBe(0);
});
