import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { reset } from "../support/behaviours.js";
import { folderWith } from "../support/folder.js";
import { type HappyOptions, HappyService } from "../support/happy-service.js";
import { Job } from "./runner.js";

const services: HappyService[] = [];
afterEach(async () => {
  for (const { server } of services.splice(0)) await server.close();
});

async function service(options: HappyOptions = {}) {
  const started = await HappyService.start(options);
  services.push(started);
  return started;
}

const ID = /^[0-9a-f-]{36}$/;

test("create in one job, collect in another that has its history", async () => {
  const { env, server } = await service();
  const first = new Job(env);
  const created = await first.step("run", { INPUT_MODE: "create", INPUT_PROMPT: "why?" });
  expect(created.outputs).toMatchObject({ status: "PENDING", "exit-code": "0", file: "" });
  const second = new Job(env);
  // What the artifact does between the jobs.
  const downloaded = join(second.temp, "downloaded");
  cpSync(created.outputs.history ?? "", downloaded, { recursive: true });
  const collected = await second.step("run", {
    INPUT_MODE: "collect",
    INPUT_OUTPUT: "r.md",
    INPUT_TIMEOUT: "1m",
    RESEARCH_COLLECTED: downloaded,
  });
  expect(collected).toMatchObject({ code: 0, outputs: { status: "COMPLETED", file: "r.md" } });
  expect(collected.outputs["request-id"]).toBe(created.outputs["request-id"]);
  expect([second.read("r.md"), server.count("create")]).toEqual(["An answer to: why?", 1]);
});

test("collect by an id, without a history", async () => {
  const happy = await service();
  const id = happy.add("why? => COMPLETED");
  const job = new Job(happy.env);
  const step = await job.step("run", { INPUT_MODE: "collect", INPUT_OUTPUT: "r.md", INPUT_REQUEST_ID: id });
  expect(step.outputs).toMatchObject({
    "request-id": id,
    status: "COMPLETED",
    "exit-code": "0",
    file: "r.md",
  });
});

test("the shards of a batch send each question once", async () => {
  const { env, server } = await service();
  const questions = Array.from({ length: 6 }, (_, i) => `question ${i} => COMPLETED\n`).join("");
  const results = [0, 1].map(async (index) => {
    const job = new Job(env);
    writeFileSync(join(job.workspace, "q.txt"), questions);
    const place = { JOB_INDEX: String(index), JOB_TOTAL: "2" };
    const inputs = { INPUT_MODE: "batch", INPUT_BATCH_FILE: "q.txt", INPUT_OUTPUT: "answers" };
    const { code, outputs } = await job.step("run", { ...inputs, ...place });
    expect(code).toBe(0);
    expect(outputs).toMatchObject({ "request-id": "", status: "", "exit-code": "0", file: "answers" });
    return job.read("answers/results.jsonl").trim().split("\n").length;
  });
  expect((await Promise.all(results)).reduce((sum, count) => sum + count)).toBe(6);
  expect(server.count("create")).toBe(6);
}, 60_000);

test("a failed research fails the step with its exit code, and names the request", async () => {
  const { env } = await service();
  const job = new Job(env);
  const step = await job.step("run", {
    INPUT_MODE: "run",
    INPUT_PROMPT: "x => FAILED",
    INPUT_OUTPUT: "r.md",
  });
  expect([step.code, step.summary, job.has("r.md")]).toEqual([3, "", false]);
  const id = expect.stringMatching(ID);
  expect(step.outputs).toMatchObject({ "request-id": id, status: "FAILED", "exit-code": "3", file: "" });
});

test("a hostile prompt and a hostile result run nothing, set no output and command no runner", async () => {
  const output = "::set-output name=file::evil\n::error::x\n##[command]\nfile=evil\n<script>x</script>";
  const { env, server } = await service({ output: () => output });
  const job = new Job(env);
  const prompt = '$(touch X) `touch X`; touch X #"\n::error::prompt => COMPLETED';
  const step = await job.step("run", { INPUT_MODE: "run", INPUT_PROMPT: prompt, INPUT_OUTPUT: "r.md" });
  expect(step).toMatchObject({ code: 0, outputs: { file: "r.md", status: "COMPLETED" } });
  expect([job.read("r.md"), job.has("X")]).toEqual([output, false]);
  expect(JSON.parse(server.of("create")[0]?.body.toString() ?? "")).toEqual({ prompt });
  expect(step.log).not.toMatch(/^(::|##\[)/m);
});

test("a missing input is an error that names it, and sends nothing", async () => {
  const { env, server } = await service();
  const step = await new Job(env).step("run", { INPUT_MODE: "run", INPUT_OUTPUT: "r.md" });
  expect(step).toMatchObject({ code: 2, outputs: { "exit-code": "2", "request-id": "" } });
  expect(step.log).toContain("the input prompt is empty");
  expect(server.count("create")).toBe(0);
});

describe("a step reports its own request and its own file", () => {
  const ask = (prompt: string, more = {}) => ({
    ...{ INPUT_MODE: "run", INPUT_PROMPT: prompt, INPUT_OUTPUT: "report.md", ...more },
  });

  test("after an unknown earlier in the job, and where the wait ended first; the report is the job's summary, and the key is nowhere", async () => {
    const { env, server } = await service();
    const { env: broken } = await service({
      fault: (operation) => (operation === "create" ? reset() : undefined),
    });
    const job = new Job(env);
    const unknown = await job.step("run", { ...broken, ...ask("lost") });
    expect(unknown).toMatchObject({ code: 11, outputs: { status: "UNKNOWN", "request-id": "", file: "" } });
    const good = await job.step("run", ask("why?"));
    const id = expect.stringMatching(ID);
    const done = { status: "COMPLETED", "exit-code": "0", "request-id": id, file: "report.md" };
    expect(good).toMatchObject({ code: 0, summary: "An answer to: why?\n", outputs: done });
    expect(job.read("report.md")).toBe("An answer to: why?");
    expect(JSON.stringify([good.log, good.outputs, good.summary])).not.toContain(env.RESEARCH_API_KEY);
    const running = ask("long => PROCESSING", { INPUT_TIMEOUT: "1s", INPUT_OUTPUT: "long.md" });
    const late = await job.step("run", running);
    expect(late).toMatchObject({ code: 8, outputs: { status: "PROCESSING", "request-id": id, file: "" } });
    expect(late.outputs["request-id"]).not.toBe(good.outputs["request-id"]);
    expect(server.count("create")).toBe(2);
  });

  test("a step that sent nothing reports no request, and no file of an earlier one", async () => {
    const { env, server } = await service();
    const job = new Job(env);
    writeFileSync(join(job.workspace, "report.md"), "of an earlier step");
    const nothing = { status: "", "request-id": "", file: "" };
    const exists = await job.step("run", ask("again?"));
    expect(exists).toMatchObject({ code: 12, summary: "", outputs: { ...nothing, "exit-code": "12" } });
    const forced = await job.step("run", ask("forced?", { INPUT_FORCE: "true" }));
    expect(forced).toMatchObject({ code: 0, outputs: { file: "report.md", status: "COMPLETED" } });
    expect(job.read("report.md")).toBe("An answer to: forced?");
    expect(server.count("create")).toBe(1);
  });

  test("a batch that had ended before still names its folder; one that cannot start names none", async () => {
    const { env, server } = await service();
    const job = new Job(env);
    writeFileSync(join(job.workspace, "q.txt"), "one => COMPLETED\n");
    const batch = { INPUT_MODE: "batch", INPUT_BATCH_FILE: "q.txt", INPUT_OUTPUT: "answers" };
    for (const _ of ["first", "again"])
      expect(await job.step("run", batch)).toMatchObject({ code: 0, outputs: { file: "answers" } });
    writeFileSync(join(job.workspace, "q.txt"), "");
    expect(await job.step("run", batch)).toMatchObject({ code: 2, outputs: { file: "" } });
    expect(server.count("create")).toBe(1);
  });
});

// files.test.ts has every place that is refused.
test("a result goes to a regular file only, and nothing is sent for another", async () => {
  const { env, server } = await service();
  const job = new Job(env);
  const inputs = { INPUT_MODE: "run", INPUT_PROMPT: "p", INPUT_OUTPUT: "/dev/stdout" };
  const step = await job.step("run", inputs);
  expect(step).toMatchObject({ code: 2, outputs: { "exit-code": "2", file: "" } });
  expect(step.log).toBe('error: invalid output: "/dev/stdout" is not a regular file\n');
  expect(server.requests).toEqual([]);
});

test.each([
  ["SIGTERM", 143],
  ["SIGINT", 130],
] as const)("a step that is cancelled by %s ends with %i and names the request", async (signal, code) => {
  const { env, server } = await service();
  const job = new Job(env);
  const step = job.step(
    "run",
    { INPUT_MODE: "run", INPUT_PROMPT: "long => PROCESSING", INPUT_OUTPUT: "r.md" },
    async (child) => {
      await vi.waitFor(() => expect(server.count("status")).toBeGreaterThan(0), { timeout: 30_000 });
      child.kill(signal);
    },
  );
  const outputs = {
    "request-id": expect.stringMatching(ID),
    status: "PROCESSING",
    "exit-code": String(code),
  };
  expect(await step).toMatchObject({ code, outputs });
});

describe("install", () => {
  /** A checkout of the action whose program is one line, so that its build takes no time. */
  function checkout() {
    const manifest = {
      name: "research-cli",
      version: "1.2.3",
      files: ["bin"],
      scripts: { prepare: "node build/build.js" },
    };
    const lock = {
      name: "research-cli",
      version: "1.2.3",
      lockfileVersion: 3,
      packages: { "": { name: "research-cli" } },
    };
    const folder = folderWith({
      "package.json": JSON.stringify(manifest),
      "package-lock.json": JSON.stringify(lock),
      "openapi.yaml": "",
      "skills/a": "",
      "src/program.js": "console.log('built')",
      "build/build.js": `require("node:fs").cpSync("src/program.js", "bin/research.js")`,
      "bin/.keep": "",
    });
    cpSync(join(import.meta.dirname, "../../action"), join(folder, "action"), { recursive: true });
    writeFileSync(join(folder, "action/package.json"), '{"type":"module"}');
    return folder;
  }

  const read = (program = "") => readFileSync(program, "utf8");

  test("without a version the sources are packed once, under a key that follows them", async () => {
    const folder = checkout();
    const job = new Job({}, undefined, join(folder, "action"));
    const { key } = (await job.step("install", {}, undefined, ["key"])).outputs;
    const first = await job.step("install", {});
    expect(first, first.log).toMatchObject({ code: 0 });
    expect(read(first.outputs.program)).toBe("console.log('built')");
    writeFileSync(join(folder, "src/program.js"), "console.log('changed')");
    const cached = await job.step("install", {});
    expect([cached.code, cached.log]).toEqual([0, ""]);
    expect(read(cached.outputs.program)).toBe("console.log('built')");
    const changed = (await job.step("install", {}, undefined, ["key"])).outputs.key;
    expect([key, changed]).toEqual([
      expect.stringMatching(/^[0-9a-f]{64}$/),
      expect.not.stringMatching(key ?? ""),
    ]);
  });

  test("a version is the tarball of that release, if its SHA-256 is the one that was given", async () => {
    const folder = folderWith({ "package/bin/research.js": "console.log('released')" });
    execFileSync("tar", ["-czf", "r.tgz", "package"], { cwd: folder });
    const tarball = readFileSync(join(folder, "r.tgz"));
    const paths: string[] = [];
    const server = createServer((request, response) => {
      paths.push(request.url ?? "");
      response.end(tarball);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const env = { GITHUB_SERVER_URL: `http://127.0.0.1:${port}`, ACTION_REPOSITORY: "owner/name" };
    const sha256 = createHash("sha256").update(tarball).digest("hex");
    const wrong = { INPUT_VERSION: "1.2.3", INPUT_SHA256: "0".repeat(64) };
    const refused = await new Job(env).step("install", wrong);
    expect(refused).toMatchObject({ code: 2, outputs: {} });
    expect(refused.log).toContain("another SHA-256");
    const good = await new Job(env).step("install", { ...wrong, INPUT_SHA256: sha256 });
    expect([good.code, read(good.outputs.program)]).toEqual([0, "console.log('released')"]);
    server.close();
    expect([...new Set(paths)]).toEqual(["/owner/name/releases/download/v1.2.3/research-cli-1.2.3.tgz"]);
  });

  test("a version without a SHA-256 is refused", async () => {
    const { code, log } = await new Job({}).step("install", { INPUT_VERSION: "1.2.3" });
    expect([code, log]).toEqual([2, expect.stringContaining("version needs sha256")]);
  });

  test.each(["1.0.0 --registry=http://evil", "$(touch X)", "--prefix=/"])(
    "the version %j is refused",
    async (version) => {
      const { code, log, outputs } = await new Job({}).step("install", { INPUT_VERSION: version });
      expect([code, outputs]).toEqual([2, {}]);
      expect(log).toContain("invalid version");
    },
  );
});
