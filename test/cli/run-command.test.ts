import { describe, expect, test } from "vitest";
import { research } from "../support/in-process.js";

describe("RESEARCH_OUTPUT", () => {
  test.each(["yaml", "Human", "JSON", "1"])("%j is invalid: one sentence, exit 2", async (value) => {
    const { code, stdout, stderr } = await research(["list"], { env: { RESEARCH_OUTPUT: value } });
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(`error: invalid value for RESEARCH_OUTPUT: ${JSON.stringify(value)}\n`);
  });

  test("that is invalid is said in JSON with --json", async () => {
    const { code, stderr } = await research(["list", "--json"], { env: { RESEARCH_OUTPUT: "yaml" } });
    expect([code, JSON.parse(stderr).error.code]).toEqual([2, "USAGE"]);
  });

  test.each([
    ["json", "[]\n"],
    ["human", ""],
    ["", ""],
  ])("%j gives %j", async (value, stdout) => {
    expect(await research(["list"], { env: { RESEARCH_OUTPUT: value } })).toMatchObject({ code: 0, stdout });
  });
});

test("the list of commands is whole, whichever of them the arguments name", async () => {
  const { code, stderr } = await research([]);
  expect(stderr).toMatch(/^ {2}watch \[id\.\.\.\] /m);
  expect(await research(["--profile", "status"])).toMatchObject({ code, stderr });
});

test.each(["create", "run", "try"])(
  "%s takes one prompt, so words too many are to be quoted",
  async (name) => {
    const { code, stderr } = await research([name, "how", "do", "tides", "form"]);
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining("hint: Put a prompt of several words in quotes.\n"),
    ]);
  },
);

test.each([["show"], ["resolve"], ["config", "get"]])("%s %s takes no prompt", async (...words) => {
  const { code, stderr } = await research([...words, "3f2a", "77b0"]);
  expect(code).toBe(2);
  expect(stderr).not.toContain("prompt");
});

test.each([
  ["--base-url", "--base-url", "list"],
  ["-p", "--profile", "list"],
  ["--schema", "--schema", "create"],
  ["-o", "--output", "run"],
])("%s with an empty value is exit 2, not as if it were not given", async (flag, name, command) => {
  const { code, stderr } = await research([command, flag, ""]);
  expect([code, stderr]).toEqual([2, expect.stringContaining(`${name} <`)]);
  expect(stderr).toContain("argument '' is invalid. It is empty.\n");
});
