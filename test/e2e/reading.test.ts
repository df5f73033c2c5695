import { createHash } from "node:crypto";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { measureColumns } from "../../src/core/text/text-width.js";
import { folderWith } from "../support/folder.js";
import { HappyService } from "../support/happy-service.js";
import { REPORT } from "../support/hostile-report.js";
import { research } from "../support/in-process.js";
import type { ScreenOptions } from "../support/screen.js";
import { screenHere } from "../support/screen-here.js";

let service: HappyService;
let id: string;
beforeAll(async () => {
  service = await HappyService.start({
    output: (prompt) => (prompt.startsWith("data") ? { cost: 1, list: [] } : REPORT),
  });
  id = service.add("x => COMPLETED");
});

const run = (args: readonly string[], env: Record<string, string | undefined> = {}) =>
  research(args, { env: { ...service.env, ...env } });

async function shown(args: readonly string[], { env, ...options }: ScreenOptions = {}) {
  const terminal = screenHere(args, { ...options, env: { ...service.env, ...env } });
  expect(await terminal.done).toEqual({ code: 0, signal: 0 });
  return terminal;
}

const words = (text: string) => text.match(/[a-z]{3,}/gi) ?? [];
const HOSTILE = [
  ...["\\u{1b}[2J", "\\u{1b}]0;owned\\u{7}", "\\u{9b}31m", "\\u{202e}evil", "\\u{1b}[31m"],
  "click (javascript:alert(1))",
];
/** What the program wrote, without looks and links. */
const plain = (raw: string) =>
  raw.replace(/\u001b\[[\d;]*m|\u001b\]8;;[^\u001b]*\u001b\\/g, "").replaceAll("\r\n", "\n");

describe("on a terminal a report is laid out", () => {
  test.each([40, 200])("in colour at %i columns", async (cols) => {
    const { raw } = await shown(["output", id], { cols });
    const text = plain(raw);
    const lines = text.split("\n");
    expect(Math.max(...lines.map(measureColumns))).toBeLessThanOrEqual(Math.min(cols, 100));
    // No word is cut: each of the report that fits a line stands in one.
    const prose = REPORT.replace(/https?:\S+/g, "").split("Hostile:")[0] ?? "";
    for (const word of words(prose)) expect(words(text)).toContain(word);
    const flat = text.replace(/\s+/g, " ");
    expect(flat).toContain("the survey [1]");
    expect(text.replace(/\n +/g, "")).toContain("[1] https://survey.example/heat-pumps?year=2026");
    expect(text).not.toMatch(/\*\*|```|\]\(/);
    expect(raw).toMatch(/\u001b\[[\d;]*m/);
    expect(raw).not.toContain("\u001b]8;");
    // Nothing in it acts.
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
    for (const hostile of HOSTILE) expect(flat).toContain(hostile);
  });

  test.each<[string, Record<string, string>, boolean, boolean]>([
    ["with NO_COLOR", { NO_COLOR: "1" }, false, false],
    ["with hyperlinks", { VTE_VERSION: "7006" }, true, true],
  ])("%s", async (_name, env, colour, hyperlinks) => {
    const { raw } = await shown(["output", id], { env });
    expect(/\u001b\[[\d;]*m/.test(raw)).toBe(colour);
    expect(raw.includes("\u001b]8;;https://survey.example/heat-pumps?year=2026\u001b\\")).toBe(hyperlinks);
    expect(plain(raw)).toContain("Costs\n─────\n");
  });

  test("by run and try as well", async () => {
    const laidOut = await shown(["run", "x => COMPLETED"]);
    expect(laidOut.text()).toContain("Heat pumps in the cold\n══════════════════════");
    const cwd = folderWith();
    writeFileSync(join(cwd, "tides.md"), "The moon moves the tides twice a day.\n");
    const tried = await shown(["try", "What moves the tides?"], { cwd, env: { NO_COLOR: "1" } });
    expect(tried.text()).toContain("What moves the tides?\n═════════════════════");
    expect(tried.raw).not.toMatch(/\u001b\[\d+m═/);
  });
});

describe("a result is exact", () => {
  test("wherever stdout is no terminal, whatever FORCE_COLOR says", async () => {
    expect(await run(["output", id], { FORCE_COLOR: "1" })).toMatchObject({ code: 0, stdout: REPORT });
    expect(await run(["output", id, "--raw"])).toMatchObject({ code: 0, stdout: REPORT });
  });

  test("in a file, whatever its name", async () => {
    const path = join(folderWith(), "page.html");
    await shown(["output", id, "-o", path]);
    expect(readFileSync(path, "utf8")).toBe(REPORT);
  });

  test("but for what would act, on a terminal with --raw", async () => {
    const { raw } = await shown(["output", id, "--raw"], { cols: 200, env: { FORCE_COLOR: "1" } });
    expect(raw).toContain("see [the survey](https://survey.example/heat-pumps?year=2026) and\r\n");
    expect(raw).toContain("\\u{1b}[2J \\u{1b}]0;owned\\u{7}");
    expect(raw).not.toContain("\u001b");
  });

  test("if it is over 2 MiB", async () => {
    const large = await HappyService.start({ output: () => `# A\n\n${"word ".repeat(430_000)}` });
    const { raw } = await shown(["output", large.add("x => COMPLETED")], { env: large.env });
    expect(raw.startsWith("# A\r\n\r\nword word")).toBe(true);
  });
});

describe("as a page", () => {
  test("to stdout and to a file", async () => {
    const folder = folderWith();
    const path = join(folder, "report.txt");
    const { code, stdout } = await run(["output", id, "--html"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^<!doctype html>\n/);
    expect(stdout).toContain(createHash("sha256").update(REPORT).digest("hex"));
    expect(stdout).toContain(`<dd dir="auto">${id}</dd>`);
    expect(await run(["output", id, "--html", "-o", path])).toMatchObject({ code: 0, stdout: "" });
    // The service of this test says a new time of completion at each question.
    const timeless = (page: string) => page.replace(/<time.*<\/time>/g, "");
    expect(timeless(readFileSync(path, "utf8"))).toBe(timeless(stdout));
  });

  test("with the question and the times, where this machine knows them", async () => {
    const { stdout } = await run(["run", "Which <pump>? => COMPLETED", "--html"]);
    expect(stdout).toContain('<dd dir="auto">Which &lt;pump&gt;? =&gt; COMPLETED</dd>');
    expect(stdout.match(/<time/g)?.length).toBeGreaterThanOrEqual(1);
    expect(stdout).toContain(`<dd dir="auto">${service.url}</dd>`);
  });

  test("of a structured result", async () => {
    const { stdout } = await run(["output", service.add("data => COMPLETED"), "--html"]);
    expect(stdout).toContain('<dt dir="auto">cost</dt>\n<dd><span class="literal">1</span></dd>');
  });

  test("--html and --web exclude what contradicts them", async () => {
    const before = service.server.requests.length;
    for (const flags of ["--html --json", "--html --raw", "--web --json", "--web --raw", "--web -o x.html"])
      expect(await run(["output", id, ...flags.split(" ")]), flags).toMatchObject({ code: 2, stdout: "" });
    for (const command of ["run", "try"])
      expect(await run([command, "x", "--html", "--raw"])).toMatchObject({ code: 2, stdout: "" });
    expect(service.server.requests.length).toBe(before);
  });
});

describe("--web", () => {
  test("opens the page from a file that only its owner can read", async () => {
    const folder = folderWith();
    const browser = join(folder, "browser");
    writeFileSync(browser, `#!/bin/sh\nprintf %s "$1" > '${folder}/opened'\n`, { mode: 0o755 });
    const done = await run(["output", id, "--web"], { BROWSER: browser, TMPDIR: folder });
    expect(done).toMatchObject({ code: 0, stdout: "" });
    const opened = readFileSync(join(folder, "opened"), "utf8");
    expect(done.stderr).toContain(opened);
    expect(opened.endsWith(`${id}.html`)).toBe(true);
    expect(statSync(opened).mode & 0o777).toBe(0o600);
    expect(statSync(join(opened, "..")).mode & 0o777).toBe(0o700);
    expect(readFileSync(opened, "utf8")).toMatch(/^<!doctype html>\n/);
  });

  test("prints the path where nothing can open it", async () => {
    const folder = folderWith();
    const done = await run(["output", id, "--web"], { PATH: folder, BROWSER: undefined, TMPDIR: folder });
    expect(done.code).toBe(0);
    expect(done.stderr).toContain("could not start a browser");
    expect(existsSync(done.stdout.trimEnd())).toBe(true);
    expect(done.stdout).toMatch(/^\/.*\.html\n$/);
  });
});
