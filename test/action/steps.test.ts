import { cpSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { only, reset } from "../support/behaviours.js";
import { COPIED, halfCited, publicWeb, reportOf } from "../support/cited-web.js";
import { type HappyOptions, HappyService } from "../support/happy-service.js";
import { buildReport, HELD, POOL } from "../support/judged-report.js";
import { modelEndpoint } from "../support/model-endpoint.js";
import { ProviderDouble } from "../support/providers/double.js";
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

test("the counts of a check are an output, and its exit code is the step's", async () => {
  const { url, env: web } = await publicWeb();
  const double = await ProviderDouble.start("openai", { result: () => reportOf(url) });
  const env = { ...double.env, ...web };
  const step = await new Job(env).step("run", {
    ...{ INPUT_MODE: "run", INPUT_PROMPT: "why => completed", INPUT_OUTPUT: "r.md", INPUT_CHECK: "true" },
  });
  expect(step).toMatchObject({ code: 14, outputs: { file: "r.md", "exit-code": "14" } });
  expect(JSON.parse(step.outputs.check ?? "")).toMatchObject({ missing: 1, citations: 7 });
  const job = new Job(env);
  writeFileSync(join(job.workspace, "q.txt"), "one => completed\ntwo => completed\n");
  const batch = await job.step("run", {
    ...{ INPUT_MODE: "batch", INPUT_BATCH_FILE: "q.txt", INPUT_OUTPUT: "r", INPUT_CHECK: "true" },
  });
  expect(batch.code).toBe(14);
  expect(JSON.parse(batch.outputs.check ?? "")).toMatchObject({ missing: 2, citations: 14 });
});

test.each(["run", "batch"])(
  "the log of `%s` with check: true says what could not be checked",
  async (mode) => {
    const { url, env: web } = await publicWeb();
    const runOf = async (report: string) => {
      const double = await ProviderDouble.start("openai", { result: () => report });
      const job = new Job({ ...double.env, ...web });
      writeFileSync(join(job.workspace, "q.txt"), "one => completed\n");
      const input = mode === "run" ? { INPUT_PROMPT: "why => completed" } : { INPUT_BATCH_FILE: "q.txt" };
      return job.step("run", { INPUT_MODE: mode, ...input, INPUT_OUTPUT: "r", INPUT_CHECK: "true" });
    };
    const copied = await runOf(COPIED);
    expect(copied).toMatchObject({ code: 0, outputs: { check: "" } });
    expect(copied.log).toMatch(/4 marks of the report lead to no source, .* Export .* as Markdown or docx/);
    expect(copied.log).toContain("nothing was checked");
    const half = await runOf(halfCited(url));
    expect(half.log).toMatch(/1 mark of the report leads to no source, such as \[7\]\. Export /);
    expect(half.log).toContain(`1 listed source is cited by no sentence, such as ${url}/tides`);
    const counts = { found: 1, marks_without_source: 1, sources_not_cited: 1 };
    expect(JSON.parse(half.outputs.check ?? "")).toMatchObject(counts);
  },
);

test("check-model and check-model-url name the model of the check; its key comes from the environment alone", async () => {
  const { url, env: web } = await publicWeb(POOL);
  const double = await ProviderDouble.start("openai", { result: () => buildReport(url) });
  const endpoint = await modelEndpoint(HELD);
  const key = "sk-of-the-step";
  const job = new Job({ ...double.env, ...web, RESEARCH_MODEL_API_KEY: key });
  const prompt = { INPUT_MODE: "run", INPUT_PROMPT: "why => completed", INPUT_OUTPUT: "r.md" };
  const model = { INPUT_CHECK_MODEL: "m", INPUT_CHECK_MODEL_URL: endpoint.url };
  const step = await job.step("run", { ...prompt, ...model, INPUT_CHECK: "true" });
  expect(step).toMatchObject({ code: 14, outputs: { file: "r.md", "exit-code": "14" } });
  expect(JSON.parse(step.outputs.check ?? "")).toMatchObject({
    supported: 2,
    contradicted: 1,
    not_stated: 1,
  });
  expect(endpoint.requests.map(({ headers }) => headers.authorization)).toEqual([`Bearer ${key}`]);
  expect(JSON.stringify(step)).not.toContain(key);
  const unchecked = await job.step("run", { ...prompt, ...model });
  expect(unchecked).toMatchObject({ code: 2, log: expect.stringContaining("need check: true") });
  const half = await job.step("run", {
    ...{ ...prompt, INPUT_OUTPUT: "half.md", INPUT_CHECK: "true", INPUT_CHECK_MODEL: "m" },
  });
  expect(half).toMatchObject({ code: 2, log: expect.stringContaining("RESEARCH_MODEL_URL") });
  expect(endpoint.requests).toHaveLength(1);
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

describe("a step reports its own request and its own file", () => {
  const ask = (prompt: string, more = {}) => ({
    ...{ INPUT_MODE: "run", INPUT_PROMPT: prompt, INPUT_OUTPUT: "report.md", ...more },
  });

  test("after an unknown earlier in the job, and where the wait ended first; the report is the job's summary, and the key is nowhere", async () => {
    const { env, server } = await service();
    const { env: broken } = await service({
      fault: only("create", reset()),
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
    expect(late.log).toContain("`mode: collect`");
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
    expect(exists.log).toContain("`force: true` overwrites it");
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

test("a later run goes on with a batch from the folder that an earlier one kept, and sums it up", async () => {
  const { env, server } = await service();
  const batch = { INPUT_MODE: "batch", INPUT_BATCH_FILE: "q.txt", INPUT_OUTPUT: "" };
  const [first, later] = [new Job(env), new Job(env)];
  const questions = "one => COMPLETED\ntwo => PENDING PENDING PENDING COMPLETED\n";
  for (const { workspace } of [first, later]) writeFileSync(join(workspace, "q.txt"), questions);
  const cut = await first.step("run", { ...batch, INPUT_TIMEOUT: "1s" });
  expect(cut).toMatchObject({ code: 8, outputs: { file: "research-results" } });
  expect(cut.summary).toContain("**1 COMPLETED**");
  // What the artifact does between the runs.
  cpSync(join(first.workspace, "research-results"), join(later.workspace, "research-results"), {
    recursive: true,
  });
  symlinkSync("loop", join(later.workspace, "research-results/loop"));
  const whole = await later.step("run", batch);
  expect(whole, whole.log).toMatchObject({ code: 0, outputs: { file: "research-results" } });
  expect(whole.summary).toContain("**2 COMPLETED** in ` research-results `");
  expect(whole.summary).toMatch(/^\| ` two => .* ` \| ` COMPLETED ` \| ` line-2\.md ` \|$/m);
  expect(server.count("create")).toBe(2);
});

describe("an error names inputs and variables of the step, no flag and no `research login`:", () => {
  const ask = { INPUT_MODE: "run", INPUT_PROMPT: "why?", INPUT_OUTPUT: "r.md" };
  test.each<[string, Record<string, string>, number, string]>([
    ["no address", { RESEARCH_BASE_URL: "" }, 2, "set RESEARCH_BASE_URL, or RESEARCH_PROVIDER,"],
    ["no key", { RESEARCH_API_KEY: "" }, 4, "Set RESEARCH_API_KEY,"],
  ])("%s", async (_, inputs, code, said) => {
    const { env } = await service();
    const step = await new Job(env).step("run", { ...ask, ...inputs });
    expect([step.code, step.log]).toEqual([code, expect.stringContaining(said)]);
    expect(step.log).not.toMatch(/(?<!\S)`?--[a-z]|\bresearch (login|output|create|--help)/);
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
