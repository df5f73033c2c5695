import { expect, test } from "vitest";
import { folderWith } from "../support/folder.js";
import { HappyService } from "../support/happy-service.js";
import { research } from "../support/in-process.js";
import { bashScreen, screen } from "../support/screen.js";
import { screenHere } from "../support/screen-here.js";
import { jsonLines } from "../support/world.js";

const SPINNER = /[⠁-⣿◐◓◑◒|/\\-]/;
const LONG = `x => ${"PENDING ".repeat(4)}${"PROCESSING ".repeat(6)}COMPLETED`;

async function setUp(env: Record<string, string> = {}) {
  const service = await HappyService.start();
  const options = { home: folderWith(), env: { ...service.env, ...env } };
  return { service, options, id: service.add(LONG) };
}

test("a watch shows a spinner with the state, follows it, and ends with a plain line", async () => {
  const { id, options } = await setUp();
  const shown = screen(["watch", id, "--interval", "250ms"], options);
  await shown.waitFor(/PENDING/);
  const first = shown.text();
  expect(first).toMatch(SPINNER);
  expect(first).toMatch(/\d+\s?s\b/);
  await shown.waitFor(/PROCESSING/);
  expect(shown.text()).not.toMatch(/PENDING[\s\S]*PENDING/);
  expect(await shown.done).toEqual({ code: 0, signal: 0 });
  expect(shown.text()).toContain("COMPLETED");
  expect(shown.text()).toContain(id);
  expect(shown.cursorVisible).toBe(true);
  expect(new Set(shown.raw.match(/[⠁-⣿]/g)).size).toBeGreaterThan(2);
  expect(shown.raw).toMatch(/\x1b\[\d*(?:;\d+)*m/);
});

test("watch without an id says that nothing runs, once something was created", async () => {
  const { options } = await setUp();
  await research(["run", "x => COMPLETED", "--interval", "50ms"], options);
  const shown = screenHere(["watch"], options);
  expect((await shown.done).code).toBe(2);
  expect(shown.text()).toMatch(/^error: no request of this machine is running\nhint: /);
});

test("a terminal that says that it has no columns gets plain lines, and the watch ends", async () => {
  const { id, options } = await setUp();
  const shown = bashScreen(`stty cols 0; research watch ${id} --interval 50ms`, options);
  expect(await shown.done).toEqual({ code: 0, signal: 0 });
  expect(shown.raw).toContain(`${id} is COMPLETED`);
  expect(shown.raw.length).toBeLessThan(2_000);
});

test("with CI=false a terminal has its one live line, and no line for each change", async () => {
  const { id, options } = await setUp({ CI: "false" });
  const shown = screenHere(["watch", id, "--interval", "50ms"], options);
  await shown.waitFor(/PROCESSING/);
  expect(shown.text().trim().split("\n")).toHaveLength(1);
  expect(await shown.done).toEqual({ code: 0, signal: 0 });
});

test("many ids share one live line that counts those that are done", async () => {
  const { service, options } = await setUp();
  const ids = [service.add("x => COMPLETED"), service.add(LONG), service.add(LONG)];
  const shown = screenHere(["watch", ...ids, "--interval", "250ms"], options);
  await shown.waitFor(/1\s*(?:\/|of)\s*3/);
  expect(await shown.done).toEqual({ code: 0, signal: 0 });
});

test("JSON on a terminal is JSON alone", async () => {
  const { service, options } = await setUp();
  const id = service.add("x => PENDING COMPLETED");
  const shown = screenHere(["watch", id, "--json", "--interval", "200ms"], { ...options, cols: 300 });
  expect(await shown.done).toEqual({ code: 0, signal: 0 });
  expect(shown.raw).not.toContain("\x1b");
  expect(jsonLines(`${shown.text()}\n`).map(({ status }) => status)).toEqual(["PENDING", "COMPLETED"]);
});

test("Ctrl-C typed in a bash loop ends the loop, stops nothing and gives the cursor back", async () => {
  const { service, id, options } = await setUp();
  const forever = service.add("x => PROCESSING");
  expect(id).not.toBe(forever);
  const shown = bashScreen(
    `for i in 1 2 3; do echo round $i; research watch ${forever} --interval 200ms; done; echo after`,
    options,
  );
  await shown.waitFor(/PROCESSING/);
  shown.type("\x03");
  expect(await shown.done).toEqual({ code: 0, signal: 2 });
  expect(shown.text()).toContain("round 1");
  expect(shown.text()).not.toMatch(/round 2|after/);
  expect(shown.text()).toContain(`research watch ${forever}`);
  expect(shown.cursorVisible).toBe(true);
  expect(service.server.count("stop")).toBe(0);
});

test("NO_COLOR takes the colour and keeps the spinner", async () => {
  const { id, options } = await setUp({ NO_COLOR: "1" });
  const shown = screenHere(["watch", id, "--interval", "150ms"], options);
  await shown.done;
  expect(shown.raw).not.toMatch(/\x1b\[[\d;]*m/);
  expect(new Set(shown.raw.match(/[⠁-⣿]/g)).size).toBeGreaterThan(2);
});

test.each([{ TERM: "dumb" }, { CI: "true" }])("nothing but plain lines under %o", async (env) => {
  const { id, options } = await setUp(env);
  const shown = screenHere(["watch", id, "--interval", "100ms"], options);
  expect(await shown.done).toEqual({ code: 0, signal: 0 });
  expect(shown.raw).not.toMatch(/\x1b|\r(?!\n)|[⠁-⣿]/);
  for (const state of ["PENDING", "PROCESSING", "COMPLETED"]) expect(shown.text()).toContain(state);
});

// stop.test.ts has the answer no.
test("stop asks on a terminal, and yes means yes", async () => {
  const { service, id, options } = await setUp();
  const again = screenHere(["stop", id], options);
  await again.waitFor(/\?/);
  again.type("y\r");
  expect(await again.done).toEqual({ code: 0, signal: 0 });
  expect(service.server.count("stop")).toBe(1);
  const unasked = screenHere(["stop", "-y", service.add("x")], options);
  expect(await unasked.done).toEqual({ code: 0, signal: 0 });
});

test("login hides the key while it is typed", async () => {
  const service = await HappyService.start();
  const home = folderWith();
  const shown = screen(["login"], { home });
  await shown.waitFor(/URL/i);
  shown.type(`${service.url}\r`);
  await shown.waitFor(/key/i);
  shown.type(`${service.env.RESEARCH_API_KEY}\r`);
  expect(await shown.done).toEqual({ code: 0, signal: 0 });
  expect(shown.raw).not.toContain("sentinel");
  expect(shown.text().split("\n")[0]).toContain(service.url);
  const id = service.add("x");
  expect(await research(["status", id], { home })).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("PENDING"),
  });
});

test("run says what is being researched, as far as there is room, and an empty line parts the result", async () => {
  const { options } = await setUp();
  const prompt = `Which tide mills are still in use ${"and where ".repeat(20)}=> PENDING PROCESSING COMPLETED`;
  const shown = screenHere(["run", prompt, "--interval", "250ms"], { ...options, cols: 60 });
  await shown.waitFor(/PENDING.*\ds +Which tide mills are.*…$/m);
  expect(await shown.done).toEqual({ code: 0, signal: 0 });
  expect(shown.text()).toMatch(/took .*\n\nAn answer to: Which tide mills/);
});

test("output, show and watch without an id let one of the newest be chosen, and elsewhere name @last", async () => {
  const { service, options } = await setUp();
  for (const prompt of ["first => COMPLETED", "second => COMPLETED", "third => PENDING COMPLETED"])
    await research(["create", prompt], options);
  for (const [typed, answer] of [
    ["\r", "third => PENDING"],
    ["3\r", "first => COMPLETED"],
  ] as const) {
    const shown = screenHere(["show"], options);
    await shown.waitFor(/^ 1 .*third[\s\S]*^ 2 .*second[\s\S]*^ 3 .*first[\s\S]*Which one\?/m);
    shown.type(typed);
    expect(await shown.done).toEqual({ code: 0, signal: 0 });
    expect(shown.text()).toMatch(new RegExp(`\n  ${answer}`));
  }
  const read = screenHere(["output"], options);
  await read.waitFor(/Which one\?/);
  read.type("2\r");
  expect(await read.done).toEqual({ code: 0, signal: 0 });
  expect(read.text()).toContain("An answer to: second");
  const wrong = screenHere(["watch"], options);
  await wrong.waitFor(/Which one\?/);
  wrong.type("4\r");
  expect(await wrong.done).toEqual({ code: 2, signal: 0 });
  expect(wrong.text()).toContain('"4" is not one of 1 to 2');
  for (const verb of ["output", "show", "watch", "stop", "status"]) {
    const { code, stderr } = await research([verb], options);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("@last") });
  }
  expect(service.server.count("stop")).toBe(0);
  const home = folderWith();
  const none = screenHere(["show"], { ...options, home });
  expect(await none.done).toEqual({ code: 2, signal: 0 });
  expect(none.text()).toContain("begin with: research run");
  await research(["create", "the only one => PENDING"], { ...options, home });
  const screen = screenHere(["show"], { ...options, home });
  expect(await screen.done).toEqual({ code: 0, signal: 0 });
  expect(screen.text()).toContain("the only one");
});

test.each([[["list", "--help"]], [[]]])(
  "headings of help are bold on a terminal, and nothing else: %j",
  async (args) => {
    const shown = screenHere(args, { cols: 60 });
    await shown.done;
    const bold = Array.from(shown.raw.matchAll(/\x1b\[1m(.*?)\x1b\[22m/g), ([, text]) => text);
    expect(bold.slice(0, 2)).toEqual(["Usage:", "Options:"]);
    expect(bold.at(-1)).toBe(args.length > 0 ? "Examples:" : "Help:");
    for (const heading of bold) expect(shown.text()).toMatch(new RegExp(`^${heading}`, "m"));
    expect(shown.text()).not.toMatch(/^ {2}\w+ \[options\]/m);
  },
);
