import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
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

test("run: the report is a file and the job's summary, and no content is an output", async () => {
  const { env } = await service();
  const job = new Job(env);
  const step = await job.step("run", { INPUT_MODE: "run", INPUT_PROMPT: "why?", INPUT_OUTPUT: "report.md" });
  expect(step).toMatchObject({ code: 0, summary: "An answer to: why?\n" });
  expect(job.read("report.md")).toBe("An answer to: why?");
  const expected = { "request-id": expect.stringMatching(ID), status: "COMPLETED", "exit-code": "0" };
  expect(step.outputs).toEqual({ ...expected, file: "report.md" });
});

test("create in one job, collect in another that has its history", async () => {
  const { env, server } = await service();
  const first = new Job(env);
  const created = await first.step("run", { INPUT_MODE: "create", INPUT_PROMPT: "why?" });
  expect(created.outputs).toMatchObject({ status: "PENDING", "exit-code": "0", file: "" });
  const second = new Job(env);
  // What the artifact does between the jobs.
  cpSync(join(first.temp, "research-history"), join(second.temp, "research-history"), { recursive: true });
  const collected = await second.step("run", {
    INPUT_MODE: "collect",
    INPUT_OUTPUT: "r.md",
    INPUT_TIMEOUT: "1m",
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
  expect(step.outputs).toEqual({ "request-id": id, status: "COMPLETED", "exit-code": "0", file: "r.md" });
});

test("three shards of a batch send each question once", async () => {
  const { env, server } = await service();
  const questions = Array.from({ length: 9 }, (_, i) => `question ${i} => COMPLETED\n`).join("");
  const results = [0, 1, 2].map(async (index) => {
    const job = new Job(env);
    writeFileSync(join(job.workspace, "q.txt"), questions);
    const place = { JOB_INDEX: String(index), JOB_TOTAL: "3" };
    const inputs = { INPUT_MODE: "batch", INPUT_BATCH_FILE: "q.txt", INPUT_OUTPUT: "answers" };
    const { code, outputs } = await job.step("run", { ...inputs, ...place });
    expect([code, outputs]).toEqual([0, { "request-id": "", status: "", "exit-code": "0", file: "answers" }]);
    return job.read("answers/results.jsonl").trim().split("\n").length;
  });
  expect((await Promise.all(results)).reduce((sum, count) => sum + count)).toBe(9);
  expect(server.count("create")).toBe(9);
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
  expect(step.outputs).toEqual({ "request-id": id, status: "FAILED", "exit-code": "3", file: "" });
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

test("the key is in no output, no summary and no log", async () => {
  const { env } = await service();
  const { log, outputs, summary } = await new Job(env).step("run", {
    ...{ INPUT_MODE: "run", INPUT_PROMPT: "p", INPUT_OUTPUT: "r.md" },
  });
  expect(JSON.stringify([log, outputs, summary])).not.toContain(env.RESEARCH_API_KEY);
});

describe("install", () => {
  test("the sources beside the action are used if no version is given", async () => {
    const { code, outputs } = await new Job({}).step("install", {});
    expect([code, outputs.program?.endsWith("bin/research.js")]).toEqual([0, true]);
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
