import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openResearch } from "../../src/index.js";
import { addDoubles } from "../support/accounts.js";
import { answer, only } from "../support/behaviours.js";
import { folderWith } from "../support/folder.js";
import { listed } from "../support/home.js";
import { connectMcp } from "../support/mcp.js";
import { account } from "../support/providers/account.js";
import type { ProviderName } from "../support/providers/bodies.js";
import { KEY, ProviderDouble, SHAPES } from "../support/providers/double.js";
import { upstreamService } from "../support/upstream-service.js";
import { VirtualClock } from "../support/virtual-clock.js";
import { jsonErrors, jsonLines } from "../support/world.js";
import { dialectOf, NAMES } from "./rows.js";

const empty = (name: ProviderName, home: Readonly<Record<string, string>> = {}) =>
  account(name, { result: () => " \n" }, home);

const NO_RESULT = {
  code: "NO_RESULT",
  exit_code: 3,
  message: expect.stringMatching(/without a result, and is paid for/),
};

describe.each(NAMES)("%s: completed without a text is no success", (name) => {
  // The result of a run at Parallel is a call of its own.
  const isSeparate = name === "parallel";
  const says = isSeparate ? "COMPLETED" : "FAILED";

  test("run is 3, writes nothing, and sends nothing again; --once gives the same one, and names rerun", async () => {
    const { run, home, posts } = await empty(name);
    const seen = await run("run", "why", "-o", join(home, "r.md"), "--json");
    expect(seen, seen.stderr).toMatchObject({ code: 3, stdout: "" });
    expect(jsonErrors(seen.stderr)).toMatchObject([NO_RESULT]);
    expect(existsSync(join(home, "r.md"))).toBe(false);
    expect(await listed(home)).toMatchObject([{ status: "FAILED", cut_short: true }]);
    const again = await run("run", "why", "--once");
    expect(again).toMatchObject({ code: 3, stdout: "", stderr: expect.stringContaining("research rerun ") });
    expect(posts()).toBe(1);
  });

  test("status, watch and output say so, and --partial prints the provider's data", async () => {
    const { run, succeed } = await empty(name);
    await succeed("create", `why => ${SHAPES[name].words[2]}`);
    const status = JSON.parse((await run("status", "@last", "--json")).stdout);
    expect(status).toMatchObject({
      ...{ status: says, provider_status: SHAPES[name].words[2] },
      ...(!isSeparate && { stop_reason: "no_text" }),
    });
    const watched = await run("watch", "@last");
    expect([watched.code, watched.stdout.split("\t")[1]]).toEqual([isSeparate ? 0 : 3, `${says}\n`]);
    const seen = await run("output", "@last", "--json");
    expect(seen).toMatchObject({ code: 3, stdout: "" });
    expect(jsonErrors(seen.stderr)).toMatchObject([
      { ...NO_RESULT, hint: expect.stringContaining("--partial") },
    ]);
    const part = await run("output", "@last", "--partial");
    expect(part, part.stderr).toMatchObject({ code: 0, stderr: expect.stringContaining("cut short") });
    expect(JSON.parse(part.stdout)).toMatchObject({ provider_status: "completed", stop_reason: "no_text" });
    expect((await run("show", "@last")).stdout).toContain("its answer has no text");
  });

  test("batch: its row failed and has no file, and only --retry-partial sends it again", async () => {
    const { run, home, posts } = await empty(name, { "rows.txt": "why\n" });
    const go = (...flags: string[]) =>
      run("batch", join(home, "rows.txt"), "--out", join(home, "out"), "--json", ...flags);
    const seen = await go();
    expect(seen.code, seen.stderr).toBe(3);
    expect(jsonLines(seen.stdout).at(-1)).toMatchObject({ summary: { failed: 1, done: 0 } });
    expect(readdirSync(join(home, "out")).filter((file) => !/^\.|results\.jsonl/.test(file))).toEqual([]);
    const row = JSON.parse(readFileSync(join(home, "out/results.jsonl"), "utf8"));
    expect(row).toMatchObject({ status: "FAILED", file: null, error: NO_RESULT });
    for (const flags of [[], ["--retry-failed"]]) expect((await go(...flags)).code).toBe(3);
    expect(posts()).toBe(1);
    expect((await go("--retry-partial")).code).toBe(3);
    expect(posts()).toBe(2);
  });

  test("an agent and the library learn it", async () => {
    const { double, env, home } = await empty(name);
    const client = await connectMcp({ home, env });
    const { content } = await client.call("research_create", { prompt: `why => ${SHAPES[name].words[2]}` });
    const waited = await client.call("research_wait", { ids: [content.request_id] });
    expect(waited.content).toMatchObject({ done: true, requests: [{ status: says }] });
    const output = await client.call("research_output", { id: content.request_id });
    expect(output).toMatchObject({ isError: true, content: { error: NO_RESULT } });
    await client.close();
    await using library = openResearch({
      provider: name,
      baseUrl: double.url,
      env: { ...env, RESEARCH_API_KEY: KEY },
    });
    const failing = library.run(`whence => ${SHAPES[name].words[2]}`);
    await expect(failing).rejects.toMatchObject({ code: "NO_RESULT", name: "NoOutputError" });
  });

  test("compare: its account has no report", async () => {
    const { run, env, home, double } = await empty(name);
    const other = await ProviderDouble.start(name === "exa" ? "openai" : "exa");
    await addDoubles(env, double, other);
    const seen = await run(
      "compare",
      "why",
      "-p",
      name,
      "-p",
      other.provider,
      "-o",
      join(home, "dir"),
      "--json",
    );
    expect(seen.code, seen.stderr).toBe(3);
    const { accounts } = JSON.parse(seen.stdout);
    expect(accounts).toMatchObject([
      { status: "FAILED", file: null, error: NO_RESULT },
      { status: "COMPLETED" },
    ]);
    expect(existsSync(join(home, "dir", `${name}.md`))).toBe(false);
  });

  test("serve --upstream: FAILED with the sentence, sent once", async () => {
    const clock = new VirtualClock();
    const double = await ProviderDouble.start(name, { result: () => "" });
    const there = { url: double.url, apiKey: KEY, dialect: dialectOf(name) };
    const { create, ended, service } = await upstreamService({ dataDir: folderWith(), clock, ...there });
    const end = await ended(await create("why"));
    expect(end).toMatchObject({ status: "FAILED", reason: expect.stringMatching(/^there: .*is paid for/) });
    expect(double.server.count("create")).toBe(1);
    await service.close();
  });
});

describe("a refusal alone", () => {
  const refused = JSON.stringify({
    type: "message",
    content: [{ type: "refusal", refusal: "I cannot help with that." }],
  });

  test.each(["openai", "perplexity"] as const)(
    "%s: is 3, and its sentence is in the message",
    async (name) => {
      const { run, double } = await account(name);
      double.options.fault = (operation, nth) => {
        if (operation !== "status" || nth === 1) return undefined;
        const [id = ""] = [...double.runs.keys()];
        const whole = { ...double.answerAbout(id, "completed"), output: [JSON.parse(refused)] };
        return answer({ body: JSON.stringify(whole) });
      };
      const seen = await run("run", "why", "--json");
      expect(seen, seen.stderr).toMatchObject({ code: 3, stdout: "" });
      const message = expect.stringMatching(/is paid for: the model refused: I cannot help with that\./);
      expect(jsonErrors(seen.stderr)).toMatchObject([{ ...NO_RESULT, message }]);
      const part = await run("output", "@last", "--partial", "--json");
      expect(JSON.parse(part.stdout)).toMatchObject({
        stop_reason: "refusal",
        message: "I cannot help with that.",
      });
    },
  );
});

test.each(NAMES)(
  "%s: whoever fetches a result records the end, and the provider may forget it",
  async (name) => {
    const { run, succeed, double, home } = await account(name);
    const prompt = `why => ${SHAPES[name].words[2]}`;
    await succeed("create", prompt);
    await succeed("output", "@last");
    expect(await listed(home)).toMatchObject([{ status: "COMPLETED" }]);
    double.runs.clear();
    const before = double.server.count();
    expect(await run("watch", "@last")).toMatchObject({ code: 0 });
    expect(await run("run", prompt, "--once")).toMatchObject({ code: 0 });
    expect(double.server.count()).toBe(before);
  },
);

/** A machine at a gateway that answers each create with the end and knows nothing of it afterwards. */
async function atGateway(
  name: ProviderName,
  word: string,
  files: Readonly<Record<string, string>> = {},
  result?: string,
) {
  const made = await ProviderDouble.start(name, result === undefined ? {} : { result: () => result });
  const id = made.add({ input: "why", query: "why" });
  const body = JSON.stringify(made.answerAbout(id, word));
  const gone = answer({
    status: 404,
    body: '{"error":{"message":"not stored"},"detail":{"error":"not stored"}}',
  });
  const fault = only("create", answer({ status: name === "parallel" ? 202 : 200, body }));
  const here = await account(name, { fault: (operation, nth) => fault(operation, nth) ?? gone }, files);
  return { ...here, id, asked: () => here.double.server.count() - here.posts() };
}

// Parallel's create holds no result, so that its end has to be asked for.
describe.each(NAMES.filter((name) => name !== "parallel"))(
  "%s: an end in the create's own answer",
  (name) => {
    const TEXT = expect.stringContaining("An answer to: why");

    test.each([{}, { RESEARCH_NO_HISTORY: "1" }])(
      "run gives the result and asks for nothing, %j",
      async (env) => {
        const here = await atGateway(name, "completed");
        Object.assign(here.env, env);
        const seen = await here.run("run", "why");
        expect(seen, seen.stderr).toMatchObject({ code: 0, stdout: TEXT });
        expect([here.posts(), here.asked()]).toEqual([1, 0]);
      },
    );

    test("create -w, watch and output take it as the end; status alone asks", async () => {
      const { run, succeed, id, asked } = await atGateway(name, "completed");
      expect((await succeed("create", "why", "-w")).stdout).toBe(`${id}\n${id}\tCOMPLETED\n`);
      expect((await succeed("watch", id)).stdout).toBe(`${id}\tCOMPLETED\n`);
      expect(jsonLines((await succeed("watch", id, id, "--json")).stdout)).toMatchObject([
        { request_id: id, status: "COMPLETED", previous_status: null, final: true },
      ]);
      expect((await succeed("output", id)).stdout).toEqual(TEXT);
      expect(asked()).toBe(0);
      await run("status", id);
      expect(asked()).toBeGreaterThan(0);
    });

    test("batch and compare have its file", async () => {
      const { succeed, home, env, double, asked } = await atGateway(name, "completed", {
        "rows.txt": "why\n",
      });
      for (const _ of "12") await succeed("batch", join(home, "rows.txt"), "--out", join(home, "out"));
      expect(readFileSync(join(home, "out/line-1.md"), "utf8")).toEqual(TEXT);
      const other = await ProviderDouble.start(name === "exa" ? "openai" : "exa");
      await addDoubles(env, double, other);
      await succeed("compare", "why", "-p", name, "-p", other.provider, "-o", join(home, "dir"));
      expect(readFileSync(join(home, "dir", `${name}.md`), "utf8")).toEqual(TEXT);
      expect(asked()).toBe(0);
    });

    test("an agent and the library have it", async () => {
      const { double, env, home, id, asked } = await atGateway(name, "completed");
      const client = await connectMcp({ home, env });
      await client.call("research_create", { prompt: "why" });
      const waited = await client.call("research_wait", { ids: [id] });
      expect(waited.content).toMatchObject({ done: true, requests: [{ status: "COMPLETED" }] });
      expect((await client.call("research_output", { id })).content.content).toEqual(TEXT);
      await client.close();
      for (const RESEARCH_NO_HISTORY of ["", "1"]) {
        const environment = { ...env, RESEARCH_API_KEY: KEY, RESEARCH_NO_HISTORY };
        await using library = openResearch({ provider: name, baseUrl: double.url, env: environment });
        expect(await library.run("why")).toEqual(TEXT);
      }
      expect(asked()).toBe(0);
    });

    test.each(["failed", "completed"])(
      "one that is %s without a result is 3, with the reason",
      async (word) => {
        const { run, home, asked } = await atGateway(name, word, { "rows.txt": "why\n" }, "");
        const code = word === "failed" ? "RESEARCH_FAILED" : "NO_RESULT";
        for (const argv of [
          ["run", "why"],
          ["batch", join(home, "rows.txt"), "--out", join(home, "out")],
        ]) {
          const seen = await run(...argv, "--json");
          expect(seen.code, seen.stderr).toBe(3);
          const errors =
            argv[0] === "run"
              ? jsonErrors(seen.stderr)
              : jsonLines(seen.stdout).flatMap(({ error }) => error ?? []);
          expect(errors).toMatchObject([{ code, exit_code: 3 }]);
        }
        expect(asked()).toBe(0);
      },
    );

    test.each([
      ["failed", 3],
      ["cancelled", 10],
    ])("output says how one that is %s ended, and asks for nothing", async (word, exit) => {
      const { run, asked } = await atGateway(name, word);
      expect((await run("run", "why")).code).toBe(exit);
      for (const flags of [[], ["--partial"], ["-w"]])
        expect((await run("output", "@last", ...flags)).code).toBe(exit);
      expect(asked()).toBe(0);
    });

    test("serve --upstream has its result, or its reason", async () => {
      for (const [word, status] of [
        ["completed", "COMPLETED"],
        ["failed", "FAILED"],
      ] as const) {
        const clock = new VirtualClock();
        const { double } = await atGateway(name, word);
        const there = { url: double.url, apiKey: KEY, dialect: dialectOf(name) };
        const { create, ended, service } = await upstreamService({ dataDir: folderWith(), clock, ...there });
        expect(await ended(await create("why"))).toMatchObject({ status });
        expect(double.server.count() - double.server.count("create")).toBe(0);
        await service.close();
      }
    });
  },
);
