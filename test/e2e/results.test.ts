import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { hang, only } from "../support/behaviours.js";
import { screenHere } from "../support/screen-here.js";
import { jsonErrors, jsonLines, world } from "../support/world.js";

const HOSTILE = JSON.stringify({ type: "string", pattern: "^(a+)+$" });
/** It asks itself until the stack is full. */
const ENDLESS = '{"$ref":"#"}';

// check.test.ts has the check that takes too long.
test("a check that is given up leaves the result there", async () => {
  const { research } = await world({ output: () => "whole" });
  const run = await research(["run", "x => COMPLETED", "--strict", "--schema", ENDLESS]);
  expect(run).toMatchObject({ code: 13, stdout: "whole" });
  expect(run.stderr).toContain("could not be checked");
});

test("Ctrl-C ends a check that takes long", async () => {
  const { start } = await world({ output: () => `${"a".repeat(40)}!` });
  const run = start(["run", "x => COMPLETED", "--schema", HOSTILE]);
  await run.waitFor(/a!/);
  run.signal("SIGINT");
  expect(await run.done).toMatchObject({ signal: "SIGINT" });
});

test("--strict without a known schema says so; --schema gives one", async () => {
  const { research, service } = await world();
  const id = service.add("x => COMPLETED");
  const unchecked = await research(["output", id, "--strict", "--json"]);
  expect(unchecked.code).toBe(0);
  expect(jsonLines(unchecked.stderr)).toMatchObject([{ notice: { code: "NOT_CHECKED" } }]);
  const fits = await research(["output", id, "--strict", "--schema", '{"type":"string"}']);
  expect(fits).toMatchObject({ code: 0, stderr: "" });
  const misfit = await research(["output", id, "--strict", "--schema", "-", "--json"], {
    input: '{"type":"object"}',
  });
  expect(misfit.code).toBe(13);
  expect(jsonErrors(misfit.stderr)).toMatchObject([{ code: "SCHEMA_MISMATCH", request_id: id }]);
});

test("output -w that is out of time names the command with the schema that was given", async () => {
  const { research, service } = await world();
  const id = service.add("x => PROCESSING");
  const schema = '{"type":"string"}';
  const late = await research(["output", "-w", id, "--strict", "--schema", schema, "--timeout", "200ms"]);
  expect(late).toMatchObject({ code: 8, stdout: "" });
  expect(late.stderr).toContain(`${id} is not finished after 200ms`);
  expect(late.stderr).toContain(`research output -w ${id} --strict --schema '${schema}'\n`);
});

test.each([
  ["run", "x => FAILED"],
  ["output", "-w", "FAILED"],
])("--timeout ends %s, also while it is asked why it FAILED", async (...words) => {
  const { research, service } = await world({ fault: only("output", hang()) });
  const args = words.map((word) => (word === "FAILED" ? service.add("x => FAILED") : word));
  const run = await research([...args, "--timeout", "2s", "--json"]);
  expect(run).toMatchObject({ code: 3, stdout: "" });
  expect(jsonErrors(run.stderr)).toMatchObject([{ code: "RESEARCH_FAILED", exit_code: 3 }]);
});

test("--timeout ends output without -w, too", async () => {
  const { research, service } = await world({ fault: only("output", hang()) });
  const run = await research(["output", service.add("x => COMPLETED"), "--timeout", "2s", "--json"]);
  expect(run).toMatchObject({ code: 8, stdout: "" });
  expect(jsonErrors(run.stderr)).toMatchObject([{ code: "TIMEOUT", exit_code: 8 }]);
});

test("a result with CRLF shows no escapes on a terminal, and is exact in a file", async () => {
  const { service, env, home, research } = await world({ output: () => "one\r\ntwo\r\nthree\rfour" });
  const id = service.add("x => COMPLETED");
  const shown = screenHere(["output", id], { home, env });
  expect(await shown.done).toMatchObject({ code: 0 });
  expect(shown.text()).toMatch(/one\s+two\s+three/);
  expect(shown.text()).not.toMatch(/(?:one|two).*\\u\{d\}/);
  const file = join(home, "out.txt");
  expect(await research(["output", id, "-o", file])).toMatchObject({ code: 0 });
  expect(readFileSync(file, "utf8")).toBe("one\r\ntwo\r\nthree\rfour");
});
