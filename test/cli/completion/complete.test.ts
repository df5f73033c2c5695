import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { completed, DONE, ELSEWHERE, KEY, machine, RUNNING } from "./machine.js";

/** What is offered at the end of these words, as zsh asks for it. */
const offered = (words: readonly string[], env = machine().env, table?: URL) =>
  completed(["zsh", ...words], env, table);

const valuesIn = (text: string) => text.split("\n").flatMap((line) => line.split("\t")[0] || []);

test.each([
  ["a command", ["resol"], ["resolve"]],
  ["a command below another", ["config", "ge"], ["get"]],
  ["a flag of the command", ["serve", "--upstream-a"], ["--upstream-at-once"]],
  ["a flag of every command", ["show", "--profi"], ["--profile"]],
  ["a choice", ["quota", "--tier", "ent"], ["enterprise"]],
  ["a choice in the word of its flag", ["quota", "--tier=ent"], ["--tier=enterprise"]],
  ["a setting", ["config", "get", "base"], ["base-url"]],
  ["a value of a setting", ["config", "set", "tier", "fr"], ["free"]],
  ["a profile", ["--profile", "wo"], ["work"]],
  ["a topic", ["help", "exit"], ["exit-codes"]],
  ["the newest request", ["status", "@la"], ["@last"]],
  ["an id", ["show", "aaaa1"], [RUNNING]],
  ["ids that have ended first, of this origin only", ["output", ""], ["@last", DONE, RUNNING]],
  ["what runs only", ["stop", ""], ["@last", RUNNING]],
  ["what runs only, to be waited for", ["watch", ""], ["@last", RUNNING]],
  ["what is not given yet", ["status", RUNNING, "aaaa"], [DONE]],
  ["a file", ["run", "--prompt-file", "quest"], [":files"]],
  ["a report that is no request", ["check", "repo"], [":files"]],
  ["a folder", ["try", "--sources", "sour"], [":folders"]],
  ["a folder for agents", ["mcp", "--allow-dir", "res"], [":folders"]],
  ["nothing for what is not known", ["nonsense", "x"], []],
])("offers %s", async (_, words, values) => {
  expect(valuesIn(await offered(words))).toEqual(values);
});

test("an id is told by its state, its age and its prompt, without the key", async () => {
  const text = await offered(["output", ""]);
  expect(text).toMatch(new RegExp(`^${DONE}\tCOMPLETED, 2h 0\\dm ago: Why is the`, "m"));
  expect(text).toMatch(new RegExp(`^${RUNNING}\tPENDING, .*tides form`, "m"));
  expect(text).not.toContain(ELSEWHERE);
  expect(text).not.toContain(KEY);
});

test("what is broken or cannot be read is met with silence, and what needs none of it is offered", async () => {
  const { env, history, settings } = machine();
  chmodSync(history, 0o000);
  expect(await offered(["show", ""], env)).not.toContain(KEY);
  chmodSync(history, 0o600);
  writeFileSync(history, "{broken\n\0\n[]\n");
  expect(valuesIn(await offered(["show", "aaaa"], env))).toEqual([]);
  writeFileSync(settings, "{");
  const broken = { ...env, RESEARCH_BASE_URL: "nonsense" };
  const nowhere = { ...env, RESEARCH_STATE_DIR: "/proc/1/none", RESEARCH_CONFIG_DIR: "relative" };
  for (const env of [broken, nowhere]) {
    expect(valuesIn(await offered(["show", "aaaa"], env))).toEqual([]);
    expect(valuesIn(await offered(["resol"], env))).toEqual(["resolve"]);
  }
  expect(await offered(["resol"], env, new URL("file:///nowhere.json"))).toBe("");
  expect(readFileSync(settings, "utf8")).toBe("{");
});
