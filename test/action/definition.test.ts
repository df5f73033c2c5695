import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { FLAGS } from "../../action/arguments.js";

const root = join(import.meta.dirname, "../..");
const text = readFileSync(join(root, "action.yml"), "utf8");
const action = parse(text);
const steps: { uses?: string; run?: string; env?: Record<string, string>; with?: Record<string, string> }[] =
  action.runs.steps;

test("every other action is pinned by the SHA of a commit", () => {
  const used = steps.flatMap(({ uses }) => uses ?? []);
  expect(used.length).toBeGreaterThan(2);
  for (const name of used) expect(name).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40}$/);
});

test("no script holds an expression, and each one exists", () => {
  const scripts = steps.flatMap(({ run }) => run ?? []);
  for (const script of scripts) {
    expect(script).not.toContain("${{");
    const [, path = ""] = /^node "\$GITHUB_ACTION_PATH\/(action\/[\w-]+\.js)"(?: key)?$/.exec(script) ?? [];
    expect(existsSync(join(root, path))).toBe(true);
  }
  expect(scripts).toHaveLength(3);
});

test("each input is used, and each that is used is declared", () => {
  const used = new Set(Array.from(text.matchAll(/inputs\.([a-z0-9-]+)/g), ([, name]) => name));
  expect([...used].sort()).toEqual(Object.keys(action.inputs).sort());
});

test("the outputs are those that hold no content", () => {
  expect(Object.keys(action.outputs).sort()).toEqual(["check", "exit-code", "file", "request-id", "status"]);
});

test("each input with a flag of its name reaches the script, and its description names the modes that take it", () => {
  const inputs = steps
    .flatMap(({ env = {} }) => Object.keys(env))
    .filter((name) => name.startsWith("INPUT_"));
  const names = inputs.map((name) => name.slice(6).toLowerCase().replaceAll("_", "-"));
  for (const [name, { modes }] of Object.entries(FLAGS)) {
    expect(names).toContain(name);
    const modesInText = /\(([a-z, ]+)\)\.$/.exec(action.inputs[name].description)?.[1]?.split(", ");
    if (name !== "timeout" && name !== "tier") expect(modesInText, name).toEqual(modes);
  }
});

test("the cache holds what the script packs, under the key that it makes", () => {
  const cache = steps.find(({ uses }) => uses?.startsWith("actions/cache@"));
  const expression = (text: string) => `\${{ ${text} }}`;
  expect(cache?.with).toEqual({
    path: `${expression("runner.temp")}/research-cli/${expression("steps.source.outputs.key")}/research-cli.tgz`,
    key: `research-cli-${expression("steps.source.outputs.key")}`,
  });
});

test("no input takes the key", () => {
  expect(Object.keys(action.inputs).filter((name) => /key|token|secret/.test(name))).toEqual([]);
});

test("no step is told its place in a matrix", () => {
  expect(text).not.toContain("strategy.");
});
