import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { answer, close } from "../support/behaviours.js";
import { faultServer } from "../support/fault-server.js";
import { folderWith } from "../support/folder.js";
import { KEY } from "../support/happy-service.js";
import { foldersIn } from "../support/home.js";
import { InProcess, research } from "../support/in-process.js";
import { ProviderDouble } from "../support/providers/double.js";
import { environment, type RunResult } from "../support/run.js";

const ID = "5f0c9a3e-7b1d-4c52-9d86-2f1e0a4b6c8d";
/** What a JavaScript value cannot hold, or JSON.stringify would write in another way. */
const FIELDS = '"big":12345678901234567890,"huge":1e400,"zero":-0,"one":1.0,"a":1,"a":2,"e":"\\u00e9\\/"';
const INDENTED = `{
  "big": 12345678901234567890,
  "huge": 1e400,
  "zero": -0,
  "one": 1.0,
  "a": 1,
  "a": 2,
  "e": "\\u00e9\\/"
}
`;
const state = (status: string) => `{"status":"${status}",${FIELDS}}`;
const withId = (status: string) => `{"request_id":"${ID}",${state(status).slice(1)}`;
const OUTPUT = `{"output":{${FIELDS}},${FIELDS}}`;

let home = "";
let env: Record<string, string> = {};
const run = (...args: string[]): Promise<RunResult> => research(args, { home, env });

beforeAll(async () => {
  const data = {
    create: withId("PENDING"),
    stop: state("STOPPED"),
    status: state("COMPLETED"),
    output: OUTPUT,
    other: "{}",
  };
  const server = await faultServer((operation) =>
    // Laid out over several lines, as some services do.
    answer({ body: `{ "status": true,\n "version": "1.0.0",\n "data": ${data[operation]} }\n` }),
  );
  home = folderWith();
  env = { ...foldersIn(home), RESEARCH_BASE_URL: server.url, RESEARCH_API_KEY: KEY };
});

describe("what the service said is passed on exactly by", () => {
  test.each([
    { argv: ["create", "x", "--json"], stdout: `${withId("PENDING")}\n` },
    { argv: ["status", ID, "--json"], stdout: `${withId("COMPLETED")}\n` },
    { argv: ["status", ID, ID, "--json"], stdout: `[${withId("COMPLETED")},${withId("COMPLETED")}]\n` },
    { argv: ["stop", "-y", ID, "--json"], stdout: `${withId("STOPPED")}\n` },
    { argv: ["output", ID, "--json"], stdout: `${OUTPUT}\n` },
    { argv: ["output", ID], stdout: INDENTED },
    { argv: ["run", "x"], stdout: INDENTED },
    { argv: ["run", "x", "--json"], stdout: `${OUTPUT}\n` },
  ])("$argv", async ({ argv, stdout }) => {
    expect(await run(...argv)).toMatchObject({ code: 0, stdout });
  });

  test("run -o", async () => {
    const file = join(home, "result.json");
    expect(await run("run", "x", "-o", file)).toMatchObject({ code: 0 });
    expect(readFileSync(file, "utf8")).toBe(INDENTED);
  });

  test("batch", async () => {
    const rows = join(home, "rows.txt");
    writeFileSync(rows, "x\n");
    const folder = join(home, "results");
    expect(await run("batch", rows, "--out", folder)).toMatchObject({ code: 0 });
    const [line = ""] = readFileSync(join(folder, "results.jsonl"), "utf8").split("\n");
    expect(readFileSync(join(folder, JSON.parse(line).file), "utf8")).toBe(INDENTED);
  });
});

describe("a schema is sent exactly as it was given", () => {
  const SCHEMA =
    '{"type":"number","maximum":12345678901234567890,"exclusiveMaximum":1e400,"minimum":-0,"multipleOf":1.0,"a":1,"a":2,"title":"\\u00e9\\/"}';
  const SENT = `"output_schema":${SCHEMA}`;

  /** A home of its own, its folder with files, and the bodies of the creates that came. */
  async function place(files: Record<string, string> = {}) {
    const folder = folderWith(files);
    const server = await faultServer(() =>
      answer({ body: `{"status":true,"version":"1.0.0","data":${withId("COMPLETED")}}` }),
    );
    const given = {
      ...{ home: folder, cwd: folder },
      env: { ...env, ...foldersIn(folder), RESEARCH_BASE_URL: server.url },
    };
    return {
      run: (argv: string[], stdin?: string, RESEARCH_BASE_URL = server.url) =>
        research(argv, {
          ...{ ...given, ...(stdin && { input: stdin }) },
          env: { ...given.env, RESEARCH_BASE_URL },
        }),
      bodies: () =>
        server.requests.filter(({ operation }) => operation === "create").map(({ body }) => body.toString()),
    };
  }

  test.each([
    { name: "as an argument", argv: ["create", "x", "--schema", SCHEMA] },
    { name: "in a file", argv: ["create", "x", "--schema", "schema.json"] },
    { name: "on stdin", argv: ["create", "x", "--schema", "-"], stdin: SCHEMA },
    { name: "run", argv: ["run", "x", "--schema", "schema.json"] },
    { name: "a line of a batch", argv: ["batch", "rows.jsonl", "--out", "out", "--timeout", "1"] },
    { name: "a cell of a batch", argv: ["batch", "rows.csv", "--out", "out", "--timeout", "1"] },
  ])("$name", async ({ argv, stdin }) => {
    const { run: type, bodies } = await place({
      "schema.json": SCHEMA.replaceAll(",", " ,\n"),
      "rows.jsonl": `{"prompt":"x","output_schema":${SCHEMA}}\n`,
      "rows.csv": `prompt,output_schema\nx,"${SCHEMA.replaceAll('"', '""')}"\n`,
    });
    await type(argv, stdin);
    expect(bodies()).toEqual([`{"prompt":"x","structured_output":true,${SENT}}`]);
  });

  test("rerun, of a request, of one that was rerun, and of one that its user settled", async () => {
    const { run: type, bodies } = await place();
    await type(["create", "x", "--schema", SCHEMA]);
    await type(["rerun", "@last"]);
    await type(["rerun", "@last"]);
    expect(bodies()).toHaveLength(3);
    for (const body of bodies()) expect(body).toContain(SENT);
    expect((await type(["rerun", "@last", "--dry-run"])).stdout).toContain(SENT);
    expect((await type(["list", "--json"])).stdout.split(SENT)).toHaveLength(4);
    expect((await type(["show", "@last", "--json"])).stdout).toContain(SENT);
  });

  test.each([
    { name: "resolved as created", settled: ["--request-id", ID] },
    { name: "resolved as not created", settled: ["--not-created"] },
  ])("rerun of an unknown outcome, $name", async ({ settled }) => {
    const { run: type, bodies } = await place();
    const nowhere = await faultServer((_operation, nth) => (nth === 1 ? close() : answer({ body: "{}" })));
    const lost = await type(["create", "x", "--schema", SCHEMA, "--json"], undefined, nowhere.url);
    expect(lost.code).toBe(11);
    const local = String(/local-[0-9a-f]+/.exec(lost.stderr));
    await type(["resolve", local, ...settled]);
    await type(["rerun", local]);
    expect(bodies()).toHaveLength(1);
    expect(bodies()[0]).toContain(SENT);
  });

  test("create --dry-run, in the command that it shows, and in JSON", async () => {
    const argv = ["create", "x", "--schema", SCHEMA, "--dry-run"];
    expect((await run(...argv)).stdout).toContain(SENT);
    expect((await run(...argv, "--json")).stdout).toContain(SENT);
  });

  test.each([{ keeps: false }, { keeps: true }])(
    "by the local service to its researcher, with a data folder: $keeps",
    async ({ keeps }) => {
      const folder = folderWith({ "schema.json": SCHEMA });
      const data = keeps ? ["--data", join(folder, "data")] : [];
      const researcher = `tee "${join(folder, "job.json")}" >&2; echo 1`;
      const serving = new InProcess(["serve", "--port", "0", ...data, "--researcher", researcher], {
        env: { ...environment(folder), RESEARCH_SERVE_API_KEY: KEY },
      });
      const [baseUrl] = await serving.waitFor(/http:\S+/);
      const there = { ...env, ...foldersIn(folder), RESEARCH_BASE_URL: baseUrl };
      const argv = ["run", "x", "--schema", join(folder, "schema.json")];
      expect((await research(argv, { home: folder, env: there })).stdout).toBe("1\n");
      serving.signal("SIGTERM");
      expect(await serving.done).toMatchObject({ code: 0 });
      expect(readFileSync(join(folder, "job.json"), "utf8")).toContain(SENT);
    },
  );
});

describe("an option of a provider is sent exactly as it was given", () => {
  const SET = ["--set", "max_output_tokens=12345678901234567890", "--set", 'reasoning={"a":1.0,"b":1e400}'];
  // A default of OpenAI's that is replaced keeps its place.
  const SENT = '"reasoning":{"a":1.0,"b":1e400},"max_output_tokens":12345678901234567890';

  async function place() {
    const double = await ProviderDouble.start("openai");
    const folder = folderWith();
    const given = { home: folder, env: { ...foldersIn(folder), ...double.env } };
    const bodies = () =>
      double.server.requests.flatMap(({ operation, body }) =>
        operation === "create" ? [body.toString()] : [],
      );
    return { type: (...argv: string[]) => research(argv, given), bodies };
  }

  test("by rerun too, and with another option", async () => {
    const { type, bodies } = await place();
    await type("create", "x", ...SET);
    await type("rerun", "@last");
    await type("rerun", "@last", "--set", "max_tool_calls=1.0");
    expect(bodies()).toEqual([1, 2, 3].map(() => expect.stringContaining(SENT)));
    expect((await type("list", "--json", "--limit", "1")).stdout).toContain(`{${SENT},"max_tool_calls":1.0}`);
    expect((await type("show", "@last")).stdout).toContain(`{${SENT},"max_tool_calls":1.0}`);
  });

  test("and it makes another request of the same prompt", async () => {
    const { type, bodies } = await place();
    const created = async (set: string) => (await type("create", "x", "--once", "--set", set)).stdout;
    for (const set of ["max_output_tokens=12345678901234567890", 'reasoning={"a":12345678901234567890}']) {
      const id = await created(set);
      expect(await created(set)).toBe(id);
      expect(await created(set.replace("890", "891"))).not.toBe(id);
    }
    expect(bodies()).toHaveLength(4);
  });
});

test("a number or a text as the result is exact as well", async () => {
  const outputs = ["12345678901234567890", "-0", '"12345678901234567890"'];
  const server = await faultServer((_operation, nth) =>
    answer({ body: `{"status":true,"version":"1.0.0","data":{"output":${outputs[nth - 1]}}}` }),
  );
  const there = { ...env, RESEARCH_BASE_URL: server.url };
  const printed = [];
  for (const _ of outputs) printed.push((await research(["output", ID], { home, env: there })).stdout);
  expect(printed).toEqual(["12345678901234567890\n", "-0\n", "12345678901234567890"]);
});
