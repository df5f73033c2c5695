import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { beforeAll, describe, expect, test } from "vitest";
import { EXIT_CODES } from "../../../src/app/errors.js";
import { SIGNAL_EXIT_CODES } from "../../../src/cli/errors.js";
import { EXIT_CODE_MEANINGS, VARIABLES } from "../../../src/cli/help/exit-codes-and-variables.js";
import type { HelpDocument } from "../../../src/cli/help/help-document.js";
import { TOPICS } from "../../../src/cli/help/topics.js";
import { requireBuild } from "../../support/build.js";
import { research } from "../../support/in-process.js";
import { start } from "../../support/run.js";
import { HELP_SCHEMA } from "./help-schema.js";

requireBuild();

const pages: [string, string][] = JSON.parse(
  readFileSync(new URL("../../../dist/help.json", import.meta.url), "utf8"),
);
const help = async (...args: string[]) => research(["help", ...args]);
let document: HelpDocument;
beforeAll(async () => {
  document = JSON.parse((await start(["help", "--json"]).done).stdout);
});

test("help --json fits its schema, with the version of the package", () => {
  const validate = new Ajv2020({ allowUnionTypes: true }).compile(HELP_SCHEMA);
  expect(validate(document), JSON.stringify(validate.errors?.slice(0, 5))).toBe(true);
  const { version } = JSON.parse(readFileSync("package.json", "utf8"));
  expect(document.version).toBe(version);
});

test("the topic json names every error code of ours", () => {
  const { text } = TOPICS.find(({ name }) => name === "json") ?? { text: "" };
  for (const code of [...Object.keys(EXIT_CODES), "INTERRUPTED"])
    expect(text.split(/[\s,.]+/)).toContain(code);
});

describe("help --json has every command of the help pages with its flags and no others:", () => {
  test.each(pages)("%s", (words, page) => {
    const name = (JSON.parse(words) as string[]).join(" ");
    const entry = document.commands.find((command) => command.name === name);
    const flags = page
      .match(/^ {2}(?:-\w, )?--[a-z-]+(?![a-z:-])/gm)
      ?.map((flag) => flag.match(/--[a-z-]+/)?.[0]);
    const ownNames = entry?.options.filter(({ global }) => !global).map((option) => option.name);
    const names = ownNames ?? [...document.options.map((option) => option.name), "--help"];
    expect(new Set(names)).toEqual(new Set(flags ?? []));
  });
});

test("options stand in groups of at most 12, and the last line names those of every command", () => {
  for (const [words, page] of pages) {
    const name = (JSON.parse(words) as string[]).join(" ");
    const { options } = document.commands.find((command) => command.name === name) ?? { options: [] };
    const groups = options.flatMap(({ global, group }) => (global ? [] : [group]));
    for (const group of new Set(groups)) {
      const { length } = groups.filter((one) => one === group);
      expect(length, `${name} ${group}`).toBeLessThanOrEqual(12);
      expect(page).toMatch(new RegExp(`^${group}\n  -`, "m"));
    }
    if (name === "") continue;
    const last = page.trimEnd().split("\n").at(-1) ?? "";
    expect(last.length).toBeLessThanOrEqual(80);
    expect(last).toBe("Global options: --json -p --base-url --insecure-http --request-timeout --verbose");
  }
  const run = document.commands.find(({ name }) => name === "run");
  expect(new Set(run?.options.map(({ group }) => group))).toEqual(
    new Set(["Question:", "Account:", "Waiting:", "Result:", "Limits:", null]),
  );
});

test("an option has its value, choices, default and environment", () => {
  const serve = document.commands.find(({ name }) => name === "serve");
  const option = (name: string) => serve?.options.find((one) => one.name === name);
  const databases = document.commands.flatMap(({ options }) =>
    options.filter(({ name }) => name === "--database").map(({ environment }) => environment),
  );
  expect(new Set(databases)).toEqual(new Set(["RESEARCH_SERVE_DATABASE"]));
  expect(option("--tier")).toMatchObject({ value: "tier", choices: ["free", "pro", "enterprise"] });
  expect(option("--host")).toMatchObject({ value: "address", default: "127.0.0.1", choices: null });
  expect(option("--base-url")).toMatchObject({ environment: "RESEARCH_BASE_URL", global: true });
});

test("the exit codes are those that the program uses", () => {
  const codes = Object.keys(EXIT_CODE_MEANINGS).map(Number);
  // 14 and 15 have no error beside them.
  const used = new Set([0, 14, 15, ...Object.values(EXIT_CODES), ...Object.values(SIGNAL_EXIT_CODES)]);
  expect(new Set(codes)).toEqual(used);
  for (const { name, exit_codes } of document.commands)
    for (const { code } of exit_codes) expect(codes, name).toContain(code);
});

test("every variable that belongs to a flag names one that exists", () => {
  const flags = [...document.options, ...document.commands.flatMap(({ options }) => options)];
  for (const { flag } of VARIABLES) if (flag !== null) expect(flags.map(({ name }) => name)).toContain(flag);
});

test("help --json COMMAND has that command and those below it; a topic has itself", async () => {
  const [config, get, topic] = await Promise.all([
    help("--json", "config"),
    help("config", "get", "--json"),
    help("--json", "limits"),
  ]);
  const names = (text: string) => (JSON.parse(text) as HelpDocument).commands.map(({ name }) => name);
  expect(names(config.stdout)).toEqual(expect.arrayContaining(["config", "config get", "config path"]));
  expect(names(config.stdout)).not.toContain("create");
  expect(names(get.stdout)).toEqual(["config get"]);
  expect(JSON.parse(topic.stdout).topics).toEqual([document.topics.find(({ name }) => name === "limits")]);
});

test("help is JSON only with the flag", async () => {
  const env = { RESEARCH_OUTPUT: "json" };
  for (const args of [["help"], ["help", "limits"], ["help", "run"], ["--help"], ["run", "--help"]]) {
    const text = await research(args);
    expect(text.stdout).toMatch(/^[A-Z]/);
    expect(await research(args, { env })).toEqual(text);
  }
});

test("help lists the topics, and shows each", async () => {
  const { stdout } = await help();
  for (const { name, summary } of TOPICS) expect(stdout).toMatch(new RegExp(`^  ${name} +${summary}$`, "m"));
  const [first] = document.topics;
  expect(await help(first?.name ?? "")).toMatchObject({ code: 0, stdout: first?.text, stderr: "" });
});

test("no line of a topic is wider than 80 columns", () => {
  for (const { text } of document.topics)
    expect(text.split("\n").filter((line) => line.length > 80)).toEqual([]);
});

test.each([
  [["exit-code"], "exit-codes"],
  [["statsu"], "status"],
  [["config", "gte"], "config get"],
  [["--json", "polly"], "polling"],
])("help %j: exit 2, the nearest one named", async (args, near) => {
  const run = await help(...args);
  expect(run).toMatchObject({ code: 2, stdout: "" });
  expect(run.stderr).toContain(`research help ${near}`);
});

test("--help groups the commands under headings that end in a colon", async () => {
  const { stdout } = await research(["--help"]);
  const groups = [...new Set(document.commands.map(({ group }) => group))].filter((group) => group !== null);
  expect(groups.length).toBeGreaterThan(3);
  for (const group of groups) expect(stdout).toMatch(new RegExp(`^${group}$`, "m"));
  for (const { name, group } of document.commands)
    if (group !== null) expect(stdout).toMatch(new RegExp(`^${group}\\n(?:  .*\\n)*  ${name} `, "m"));
});
