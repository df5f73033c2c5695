import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { answer } from "../support/behaviours.js";
import { faultServer } from "../support/fault-server.js";
import { folderWith } from "../support/folder.js";
import { KEY } from "../support/happy-service.js";
import { foldersIn } from "../support/home.js";
import { type RunResult, research } from "../support/run.js";

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
