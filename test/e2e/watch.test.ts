import { expect, test } from "vitest";
import { jsonErrors, jsonLines, world } from "../support/world.js";

const FOREVER = `x => PENDING ${"PROCESSING ".repeat(5)}`.trim();

async function three() {
  const here = await world();
  const good = here.service.add("x => PENDING PROCESSING PROCESSING COMPLETED");
  const bad = here.service.add("x => PROCESSING FAILED");
  const stopped = here.service.add("x => PENDING PENDING STOPPED");
  return { here, good, bad, stopped, args: ["watch", good, bad, stopped, "--interval", "50ms"] };
}

test("three that end COMPLETED, FAILED and STOPPED: results on stdout, changes on stderr, and 3", async () => {
  const { here, good, bad, stopped, args } = await three();
  const run = await here.research(args);
  expect(run).toMatchObject({ code: 3, signal: null });
  // As each one ends: on a busy machine polls that are due together may come in another order.
  const ended = [`${bad}\tFAILED`, `${stopped}\tSTOPPED`, `${good}\tCOMPLETED`];
  expect(run.stdout.trimEnd().split("\n").sort()).toEqual(ended.sort());
  const changes = [
    [good, "PENDING"],
    [good, "PROCESSING"],
    [good, "COMPLETED"],
    [bad, "PROCESSING"],
    [bad, "FAILED"],
    [stopped, "PENDING"],
    [stopped, "STOPPED"],
  ] as const;
  const lines = run.stderr.trimEnd().split("\n");
  for (const [id, status] of changes) {
    const about = lines.filter((line) => line.includes(id.slice(0, 8)) && line.includes(status));
    expect(about.length, `${id} ${status} in:\n${run.stderr}`).toBeGreaterThan(0);
  }
  expect(run.stderr).not.toMatch(/[\x1b\r]/);
  expect(here.service.server.count("status")).toBe(4 + 2 + 3);
});

test("the same as NDJSON: one object for each change, one final one for each id, nothing but JSON beside it", async () => {
  const { here, good, bad, stopped, args } = await three();
  const run = await here.research([...args, "--json"]);
  expect(run).toMatchObject({ code: 3, signal: null });
  jsonErrors(run.stderr);
  const lines = jsonLines(run.stdout);
  const of = (id: string) =>
    lines
      .filter((line) => line.request_id === id)
      .map(({ previous_status, status, final }) => [previous_status, status, final]);
  expect(of(good)).toEqual([
    [null, "PENDING", false],
    ["PENDING", "PROCESSING", false],
    ["PROCESSING", "COMPLETED", true],
  ]);
  expect(of(bad)).toEqual([
    [null, "PROCESSING", false],
    ["PROCESSING", "FAILED", true],
  ]);
  expect(of(stopped)).toEqual([
    [null, "PENDING", false],
    ["PENDING", "STOPPED", true],
  ]);
  expect(lines).toHaveLength(7);
  for (const line of lines) {
    expect(Object.keys(line).slice(0, 6)).toEqual([
      "request_id",
      "status",
      "previous_status",
      "at",
      "elapsed_ms",
      "final",
    ]);
    expect(line.at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z$/);
    expect(line.elapsed_ms).toEqual(expect.any(Number));
  }
});

test.each([
  ["COMPLETED STOPPED", 10],
  ["COMPLETED COMPLETED", 0],
  ["STOPPED FAILED", 3],
])("ends %s: %i", async (states, code) => {
  const here = await world();
  const ids = states.split(" ").map((state) => here.service.add(`x => ${state}`));
  expect(await here.research(["watch", ...ids])).toMatchObject({ code });
});

test("an error beats a failed research: one id is unknown to the service", async () => {
  const here = await world();
  const failed = here.service.add("x => FAILED");
  const nobody = "00000000-0000-4000-8000-000000000000";
  expect(await here.research(["watch", failed, nobody])).toMatchObject({
    code: 5,
    stdout: expect.stringContaining(`${failed}\tFAILED\n`),
    stderr: expect.stringContaining(nobody),
  });
  const json = await here.research(["watch", failed, nobody, "--json"]);
  expect(json.code).toBe(5);
  expect(jsonLines(json.stdout).at(-1)?.request_id).toBeDefined();
  const refused = jsonLines(json.stdout).find((line) => line.request_id === nobody);
  expect(refused).toMatchObject({ final: false, error: { code: "REQUEST_NOT_FOUND" } });
  expect(Object.keys(refused ?? {})).toEqual(["request_id", "at", "elapsed_ms", "final", "error"]);
  // To watch it again would end in the same way.
  expect(json.stderr).not.toContain("research watch");
});

test("--timeout: a last line for each unfinished id, and the command that goes on", async () => {
  const here = await world();
  const done = here.service.add("x => COMPLETED");
  const slow = here.service.add(FOREVER);
  const run = await here.research(["watch", done, slow, "--interval", "40ms", "--timeout", "500ms"]);
  expect(run).toMatchObject({ code: 8, stdout: `${done}\tCOMPLETED\n${slow}\tPROCESSING\n` });
  expect(run.stderr).toMatch(new RegExp(`research watch .*${slow}`));
  expect(run.stderr).not.toMatch(new RegExp(`research watch .*${done}`));
  const json = await here.research(["watch", slow, "--interval", "40ms", "--timeout", "300ms", "--json"]);
  expect(json.code).toBe(8);
  expect(jsonLines(json.stdout).at(-1)).toMatchObject({
    request_id: slow,
    status: "PROCESSING",
    final: false,
  });
});

test.each([[], ["--json"]].map((flags) => ({ flags })))("Ctrl-C detaches $flags", async ({ flags }) => {
  const here = await world();
  const done = here.service.add("x => COMPLETED");
  const slow = here.service.add(FOREVER);
  const running = here.start(["watch", done, slow, "--interval", "30ms", ...flags]);
  while (here.service.server.count("status") < 10) await new Promise((resolve) => setTimeout(resolve, 10));
  running.kill("SIGINT");
  const run = await running.done;
  expect(run).toMatchObject({ code: null, signal: "SIGINT" });
  expect(here.service.server.count("stop")).toBe(0);
  expect(run.stderr).toMatch(new RegExp(`research watch .*${slow}`));
  expect(run.stderr).not.toMatch(new RegExp(`research watch .*${done}`));
  if (flags.length)
    expect(jsonLines(run.stdout).at(-1)).toMatchObject({
      request_id: slow,
      status: "PROCESSING",
      final: false,
    });
  else expect(run.stdout).toBe(`${done}\tCOMPLETED\n${slow}\tPROCESSING\n`);
});
