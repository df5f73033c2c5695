import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { Writable } from "node:stream";
import { gzipSync } from "node:zlib";
import { strToU8, zipSync } from "fflate";
import { beforeAll, expect, test } from "vitest";
import { systemClock } from "../../../../src/core/clock.js";
import { hashSha256 } from "../../../../src/core/files/local-error.js";
import { requireBuild } from "../../../support/build.js";
import { COPIED, citedWeb, halfCited, publicWeb, reportOf, VERDICTS } from "../../../support/cited-web.js";
import { folderWith } from "../../../support/folder.js";
import { InProcess, inProcess, research } from "../../../support/in-process.js";
import { listen } from "../../../support/listen.js";
import { ProviderDouble } from "../../../support/providers/double.js";
import { environment } from "../../../support/run.js";
import { jsonLines } from "../../../support/world.js";

// Pages are read in a process of the build.
beforeAll(requireBuild);

/** A machine for a provider whose reports cite a public web. */
async function citing(files: Record<string, string> = {}) {
  const { url, asked, env: web } = await publicWeb();
  const double = await ProviderDouble.start("openai", { result: () => reportOf(url) });
  const home = folderWith(files);
  const env = { ...double.env, ...web };
  return { url, asked, home, env, as: (...args: string[]) => research(args, { home, cwd: home, env }) };
}

/** A command on a terminal of 200 columns. */
function onTerminal(args: string[], input: string) {
  const terminal = Object.assign(new Writable({ write: (_data, _encoding, done) => done() }), {
    columns: 200,
  });
  const env = { ...environment(folderWith()), NO_COLOR: "1" };
  return inProcess([...args], { env, input, terminal });
}

/** The words of the marks on a page. */
const marksOf = (page: string) => [...page.matchAll(/id="m\d+"[^>]*>(\w+)</g)].map(([, word]) => word);

test("each citation of a file is a line: verdict, addresses, what is missing, sentence", async () => {
  const { url, asked } = await citedWeb();
  const home = folderWith({ "report.md": reportOf(url) });
  const { code, stdout, stderr } = await research(["check", "report.md", "--allow-private"], {
    home,
    cwd: home,
  });
  expect(stdout.split("\n").slice(0, -1)).toEqual([
    `found\t${url}/pool\t\tThe pool takes 1,600 connections.`,
    `missing\t${url}/pool\t1,700\tThe pool takes 1,700 connections.`,
    `found\t${url}/pool\t\tThe option wait is 2.5 s`,
    `unchecked\t${url}/pool\t\tIts number is 4711`,
    `gone\t${url}/nothing\t\tIt ended in 2019`,
    "unreadable\tjavascript:alert(1)\t\tIt has a script.",
    `unchecked\t${url}/tides\t\tThe committee rejected the proposal after a heated debate in parliament.`,
  ]);
  expect(stderr).toContain("7 citations");
  expect(stderr).toContain("1 sentence cites nothing");
  expect(stderr).toContain("2 of 4 pages could be read");
  expect(code).toBe(14);
  // What is not there is asked for twice, what is there once.
  expect(asked.sort()).toEqual(["/nothing", "/nothing", "/pool", "/tides"]);
});

test("on a terminal what is wrong comes first, then the counts, then how to see the report; --all shows each citation with its passage", async () => {
  const { url } = await citedWeb();
  const check = (...flags: string[]) =>
    onTerminal(["check", "-", "--allow-private", ...flags], reportOf(url));
  const wrong = `missing  The pool takes 1,700 connections.\n  not on the page: 1,700\n  ${url}/pool\ngone  It ended in 2019\n`;
  const counts =
    "7 citations: 1 missing, 1 gone, 1 unreadable, 2 unchecked, 2 have their figures on the page; 1 sentence cites nothing; 2 of 4 pages could be read\n";
  const few = await check();
  expect(few.code).toBe(14);
  expect(few.stdout.startsWith(wrong)).toBe(true);
  expect(few.stdout.endsWith(counts)).toBe(true);
  expect(few.stdout).not.toContain("1,600");
  expect(few.stderr.trimEnd().split("\n").at(-1)).toContain("--html");
  const all = await check("--all");
  expect(all.stdout).toMatch(
    /^missing {2}The pool takes 1,700 connections\.\n {2}not on the page: 1,700\n {2}passage: /,
  );
  expect(all.stdout).toContain(
    `found  The pool takes 1,600 connections.\n  passage: The pool takes 1,600 connections.\n  ${url}/pool\n`,
  );
  expect(all.stdout.match(/^\w+ {2}/gm)?.map((word) => word.trim())).toEqual([
    ...["missing", "gone", "unreadable", "unchecked", "unchecked", "found", "found"],
  ]);
  expect(all.stdout.endsWith(counts)).toBe(true);
});

test("as JSON it is one object, from stdin too", async () => {
  const { url } = await citedWeb();
  const { code, stdout, stderr } = await research(["check", "-", "--allow-private", "--json"], {
    input: reportOf(url),
  });
  const [outcome] = jsonLines(stdout);
  expect(outcome).toMatchObject({
    request_id: null,
    file: "-",
    checked_at: expect.stringMatching(/^\d{4}-.*Z$/),
    complete: true,
    counts: {
      found: 2,
      missing: 1,
      unchecked: 2,
      gone: 1,
      unreadable: 1,
      citations: 7,
      uncited: 1,
    },
    metrics: {
      // The script has no page to ask for.
      ...{ links_work: 2 / 3, citation_coverage: 7 / 8 },
      ...{ citation_accuracy: null, effective_citations: null },
    },
    model: null,
  });
  const { citations, pages } = outcome as { citations: { verdict: string }[]; pages: { url: string }[] };
  expect(citations.map(({ verdict }) => verdict)).toEqual(VERDICTS);
  expect(citations[0]).toEqual({
    claim: "The pool takes 1,600 connections.",
    ...{ field: null, urls: [`${url}/pool`], verdict: "found", missing: [], reason: null },
    passage: "The pool takes 1,600 connections.",
    ...{ support: null, quote: null },
  });
  expect(pages.map(({ url: address }) => address.replace(url, ""))).toEqual([
    ...["/pool", "/nothing", "javascript:alert(1)", "/tides"],
  ]);
  expect(pages[0]).toEqual({
    ...{ url: `${url}/pool`, final_url: `${url}/pool`, state: "read", http_status: 200, reason: null },
    ...{ title: "Pool", read_at: expect.any(String), sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
  });
  expect(pages[1]).toMatchObject({
    state: "gone",
    http_status: 404,
    title: null,
    read_at: null,
    sha256: null,
  });
  expect(code).toBe(14);
  expect(jsonLines(stderr)).toEqual([]);
});

test("--save keeps the text of each page under the digest of its address, and the outcome; never in a folder in use", async () => {
  const { url } = await citedWeb();
  const home = folderWith({ "report.md": reportOf(url) });
  const args = ["check", "report.md", "--allow-private", "--save", "pages", "--json"];
  const { stdout } = await research(args, { home, cwd: home });
  const [outcome] = jsonLines(stdout) as unknown as { pages: { url: string; sha256: string | null }[] }[];
  expect(JSON.parse(readFileSync(join(home, "pages/check.json"), "utf8"))).toEqual(outcome);
  const text = readFileSync(join(home, "pages", `${hashSha256(`${url}/pool`)}.txt`), "utf8");
  expect(text).toContain("The pool takes 1,600 connections.");
  expect(hashSha256(text)).toBe(outcome?.pages[0]?.sha256);
  expect(readdirSync(join(home, "pages"))).toHaveLength(3);
  expect(await research(args, { home, cwd: home })).toMatchObject({ code: 12, stdout: "" });
});

test("--save keeps a file once, and --pages counts it once, however many of its lines are cited", async () => {
  const lines = [1, 2, 3].map((n) => `It takes ${n} (./a.md:${n}).`).join("\n\n");
  const home = folderWith({
    "report.md": `${lines}\n\nIt is 7 (b.md:1).`,
    "src/a.md": "1\n2\n3\n",
    "src/b.md": "7",
  });
  const args = ["check", "report.md", "--sources", "src", "--save", "pages", "--pages", "1", "--json"];
  const [outcome] = jsonLines((await research(args, { home, cwd: home })).stdout);
  expect(outcome).toMatchObject({ complete: false, counts: { citations: 4, unreadable: 1 } });
  expect(readdirSync(join(home, "pages"))).toEqual([`${hashSha256("./a.md:1")}.txt`, "check.json"]);
});

test("--save keeps what stands over a text: its headings, terms and heads of columns, each once", async () => {
  const text =
    "# Pools\n\n## Limits\n\nIt takes 5.\n\nIt is red.\n\n| Key | Value |\n|---|---|\n| depth | 4 |\n| width | 9 |\n\n## Uses\n\nNone.\n";
  const home = folderWith({ "report.md": "It takes 5 (pools.md:5).", "src/pools.md": text });
  const args = ["check", "report.md", "--sources", "src", "--save", "pages"];
  expect(await research(args, { home, cwd: home })).toMatchObject({ code: 0 });
  expect(readFileSync(join(home, "pages", `${hashSha256("pools.md:5")}.txt`), "utf8")).toBe(
    "pools.md\n\nPools\n\nLimits\n\nIt takes 5.\n\nIt is red.\n\nKey | Value\n\n| depth | 4 |\n\n| width | 9 |\n\nUses\n\nNone.\n",
  );
});

test("--dry-run lists the addresses with the sentences that cite each; without --allow-private none of this machine is asked", async () => {
  const { url, asked } = await citedWeb();
  const input = reportOf(url);
  const listed = await research(["check", "-", "--dry-run"], { input });
  expect(listed).toMatchObject({
    code: 0,
    stdout: [
      `${url}/pool\tThe pool takes 1,600 connections.`,
      `${url}/pool\tThe pool takes 1,700 connections.`,
      `${url}/pool\tThe option wait is 2.5 s`,
      `${url}/pool\tIts number is 4711`,
      `${url}/nothing\tIt ended in 2019`,
      "javascript:alert(1)\tIt has a script.",
      `${url}/tides\tThe committee rejected the proposal after a heated debate in parliament.\n`,
    ].join("\n"),
  });
  const [addresses] = jsonLines((await research(["check", "-", "--dry-run", "--json"], { input })).stdout);
  expect(addresses).toHaveLength(4);
  expect(addresses).toMatchObject([
    {
      url: `${url}/pool`,
      citations: [{ claim: "The pool takes 1,600 connections.", field: null }, {}, {}, {}],
    },
    {},
    {},
    {},
  ]);
  const shown = await onTerminal(["check", "-", "--dry-run"], input);
  expect(shown.stdout).toContain(`${url}/nothing\n  It ended in 2019\n`);
  const refused = await research(["check", "-", "--json"], { input });
  expect(refused.code).toBe(0);
  expect(jsonLines(refused.stdout)).toMatchObject([{ counts: { unreadable: 7, citations: 7 } }]);
  expect(refused.stderr).toContain("FEW_PAGES");
  expect(asked).toEqual([]);
});

test.each([
  ["--pages", ["--pages", "1"], ["/pool"]],
  ["--not-domains", ["--not-domains", "127.0.0.1"], []],
])("%s leaves addresses out, which are unreadable", async (_name, flags, expected) => {
  const { url, asked } = await citedWeb();
  const args = ["check", "-", "--allow-private", "--json", ...flags];
  const { stdout } = await research(args, { input: reportOf(url) });
  expect(asked).toEqual(expected);
  const [{ counts, complete }] = jsonLines(stdout) as [{ counts: object; complete: boolean }];
  expect(counts).toMatchObject({ gone: 0 });
  expect(complete).toBe(expected.length === 0);
});

test("a place in a file is looked up under --sources alone, and a hidden file never", async () => {
  const files = { "docs/a.md": "# Pool\n\nThe pool takes 1,600 connections.\n", ".env": "PORT=4711\n" };
  const home = folderWith(files);
  const input = "The pool takes 1,600 connections (docs/a.md:3). The port is 4711 (`.env:1`).";
  const verdicts = async (...flags: string[]) => {
    const { stdout } = await research(["check", "-", ...flags], { home, cwd: home, input });
    return stdout.split("\n").map((line) => line.split("\t")[0]);
  };
  expect(await verdicts("--sources", ".")).toEqual(["found", "unreadable", ""]);
  expect(await verdicts()).toEqual(["unreadable", "unreadable", ""]);
});

test("a host may be an address of IPv6", async () => {
  const server = createServer((_request, response) =>
    response.writeHead(200, { "content-type": "text/html" }).end("<p>It takes 5 litres.</p>"),
  );
  const url = `http://[::1]:${await listen(server, "::1")}/x`;
  const input = `It takes 5 litres (${url}).`;
  expect(await research(["check", "-", "--allow-private"], { input })).toMatchObject({
    code: 0,
    stdout: `found\t${url}\t\tIt takes 5 litres.\n`,
  });
});

test("nothing is known where no page answers", async () => {
  const { url, server } = await citedWeb();
  await new Promise((resolve) => server.close(resolve));
  const { code, stdout, stderr } = await research(["check", "-", "--allow-private", "--json"], {
    input: `It takes 5 (${url}/pool).`,
  });
  expect(code).toBe(9);
  expect(jsonLines(stdout)).toMatchObject([
    { citations: [{ verdict: "unreadable" }], counts: { unreadable: 1 } },
  ]);
  expect(jsonLines(stderr)).toMatchObject([{ error: { code: "NOT_CHECKED", exit_code: 9 } }]);
});

test("nothing is known if no page was read before the check's own time ended", async () => {
  const url = `http://127.0.0.1:${await listen(createServer(() => {}))}`;
  const check = await research(["check", "-", "--allow-private", "--json", "--timeout", "200ms"], {
    input: `It takes 5 (${url}/pool).`,
  });
  expect(check.code).toBe(9);
  expect(jsonLines(check.stdout)).toMatchObject([{ complete: false, counts: { unreadable: 1 } }]);
  expect(jsonLines(check.stderr)).toMatchObject([{ error: { code: "NOT_CHECKED", exit_code: 9 } }]);
});

test("nothing is known where every page refuses, and a page that is gone is an answer", async () => {
  const server = createServer(({ url }, response) => response.writeHead(url === "/gone" ? 404 : 403).end());
  const url = `http://127.0.0.1:${await listen(server)}`;
  const check = (path: string) =>
    research(["check", "-", "--allow-private"], { input: `It takes 5 (${url}/refused). So ${url}${path}` });
  expect(await check("/robots-only")).toMatchObject({
    ...{ code: 9, stdout: "" },
    stderr: expect.stringContaining(
      "none of the 2 pages that the report cites could be read: nothing was checked",
    ),
  });
  expect(await check("/gone")).toMatchObject({ code: 14, stdout: expect.stringContaining("gone") });
});

test("marks that lead nowhere are said, and a report with nothing else was not checked", async () => {
  const plain = await research(["check", "-"], { input: COPIED });
  expect(plain).toMatchObject({ code: 9, stdout: "" });
  expect(plain.stderr).toContain(
    "4 marks of the report lead to no source, such as 【12†L46-L54】. Export the",
  );
  expect(plain.stderr).toContain(
    "error: no citation mark of the report leads to a source: nothing was checked",
  );
  const json = await research(["check", "-", "--json"], { input: COPIED });
  expect(jsonLines(json.stdout)).toMatchObject([
    { citations: [], counts: { marks_without_source: 4, uncited: 4 } },
  ]);
  expect(jsonLines(json.stderr)).toMatchObject([
    { notice: { code: "MARKS_WITHOUT_SOURCE" } },
    { error: { code: "NOT_CHECKED", exit_code: 9 } },
  ]);
});

test("a listed address that no sentence cites is said, and counted", async () => {
  const { url } = await citedWeb();
  const input = halfCited(url);
  const { code, stdout, stderr } = await research(["check", "-", "--allow-private", "--json"], { input });
  expect(code).toBe(0);
  const counts = { found: 1, citations: 1, uncited: 1, marks_without_source: 1, sources_not_cited: 1 };
  expect(jsonLines(stdout)).toMatchObject([{ counts }]);
  expect(jsonLines(stderr)).toMatchObject([
    {
      notice: {
        code: "MARKS_WITHOUT_SOURCE",
        message: expect.stringContaining("1 mark of the report leads"),
      },
    },
    {
      notice: {
        code: "SOURCES_NOT_CITED",
        message: `1 listed source is cited by no sentence, such as ${url}/tides`,
      },
    },
  ]);
});

test.each<[string, Record<string, string>, string[], number]>([
  ["a file that is not there", {}, ["report.md"], 12],
  ["a folder of the name", {}, ["a/b"], 12],
  ["a PDF", { "x.pdf": "%PDF-1.7" }, ["x.pdf"], 2],
  ["a PDF that is not there", {}, ["x.pdf"], 2],
  ["binary data", { "x.md": "a\0b" }, ["x.md"], 2],
  ["what is not JSON", { "x.json": "{" }, ["x.json"], 2],
  ["over 2 MiB", { "x.md": "a ".repeat(1_100_000) }, ["x.md"], 2],
  ["a page as JSON", { "x.md": "a" }, ["x.md", "--html", "--json"], 2],
  ["an output that exists", { "x.md": "a", "y.txt": "" }, ["x.md", "-o", "y.txt"], 12],
  [
    "a folder of sources that is not there",
    { "x.md": "It takes 5 (a.md:3)." },
    ["x.md", "--sources", "y"],
    12,
  ],
  ["no domain", { "x.md": "a" }, ["x.md", "--domains", "a/b"], 2],
])("%s ends it", async (_name, files, args, code) => {
  const home = folderWith(files);
  expect(await research(["check", ...args], { home, cwd: home })).toMatchObject({ code, stdout: "" });
});

test.each(["check", "diff"])("%s refuses a PDF, and names the forms to export instead", async (command) => {
  const home = folderWith({ "x.PDF": "%PDF-1.7", "y.md": "It is." });
  const args = command === "diff" ? ["diff", "y.md", "x.PDF"] : ["check", "x.PDF"];
  const { code, stderr } = await research(args, { home, cwd: home });
  expect(code).toBe(2);
  expect(stderr).toContain("x.PDF is a PDF, and links in a PDF cannot be read");
  expect(stderr).toContain("Export the report as Markdown or docx.");
});

test("a Word document is a report, and notices name its text boxes and columns", async () => {
  const { url } = await citedWeb();
  const paragraph = (text: string) => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`;
  const box = `<w:txbxContent>${paragraph("So")}</w:txbxContent>`;
  const document = `${paragraph(`The pool takes 1,700 connections (${url}/pool).`)}<w:p>${box}</w:p><w:sectPr><w:cols w:num="2"/></w:sectPr>`;
  const home = folderWith({ "broken.docx": "PK" });
  writeFileSync(join(home, "report.docx"), zipSync({ "word/document.xml": strToU8(document) }));
  const check = (name: string) => research(["check", name, "--allow-private"], { home, cwd: home });
  const { stderr, ...checked } = await check("report.docx");
  expect(checked).toMatchObject({
    ...{ code: 14, stdout: `missing\t${url}/pool\t1,700\tThe pool takes 1,700 connections.\n` },
  });
  expect(stderr).toContain("the text boxes of report.docx are not read\n");
  expect(stderr).toContain("the columns of report.docx are not read side by side, but as one text\n");
  expect(await check("broken.docx")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("as a Word document"),
  });
  expect(await check("none.docx")).toMatchObject({ code: 12 });
});

test("a report without a citation is right", async () => {
  const { code, stdout, stderr } = await research(["check", "-"], { input: "Nothing is cited here." });
  expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
  expect(stderr).toContain("0 citations");
});

test("--html is the report with a mark at each citation, its verdict and passage", async () => {
  const { url } = await citedWeb();
  const home = folderWith({ "report.md": reportOf(url) });
  const args = ["check", "report.md", "--allow-private", "--html", "-o", "page.html"];
  const { code, stdout } = await research(args, { home, cwd: home });
  expect({ code, stdout }).toEqual({ code: 14, stdout: "" });
  const page = readFileSync(join(home, "page.html"), "utf8");
  const marks = [...page.matchAll(/<a class="mark \w+" id="m\d+" href="#c\d+">(\w+)<\/a>/g)].map(
    ([, word]) => word,
  );
  expect(marks).toEqual(VERDICTS);
  expect(page).toMatch(/1,700 connections \[1\]\. <a class="mark bad" id="m1"/);
  expect(page).toMatch(
    /<li id="c0"[\s\S]*?<blockquote[^>]*>The pool takes 1,600 connections\.<\/blockquote>/,
  );
  expect(page).toContain("not on the page: 1,700");
  expect(page).not.toMatch(/<script|javascript:alert\(1\)"/);
});

test("the value of a field is what it says, with its name for its words", async () => {
  const { url } = await citedWeb();
  const cites = (field: string) => ({ field, url: `${url}/pool` });
  const data = {
    output: {
      pool: { limit: 1600, about: "The pool takes 1,700 connections." },
      rows: [{ n: 1 }, { n: 4711 }],
    },
    citations: [cites("pool.limit"), cites("pool.about"), cites("rows[1].n")],
  };
  const home = folderWith({ "x.json": JSON.stringify(data) });
  const check = (...flags: string[]) =>
    research(["check", "x.json", "--allow-private", ...flags], { home, cwd: home });
  const { code, stdout } = await check("--json");
  expect(code).toBe(14);
  expect(jsonLines(stdout)).toMatchObject([
    {
      citations: [
        { field: "pool.limit", claim: "1600", verdict: "found" },
        { field: "pool.about", verdict: "missing", missing: ["1,700"] },
        { field: "rows.1.n", claim: "4711", verdict: "unchecked" },
      ],
      counts: { uncited: 1 },
    },
  ]);
  const page = (await check("--html")).stdout;
  expect(page).toMatch(/1600<\/span> <a class="mark done" id="m0"/);
  expect(page.match(/class="mark none"/g)).toHaveLength(1);
});

test("a report that cites what is gone alone ends with 14", async () => {
  const { url } = await citedWeb();
  const { code, stdout } = await research(["check", "-", "--allow-private"], {
    input: `It ended (${url}/nothing).`,
  });
  expect({ code, stdout }).toEqual({ code: 14, stdout: `gone\t${url}/nothing\t\tIt ended.\n` });
});

test("a request's check is kept: `show` says it, `output --html` marks its sentences, `history forget` forgets it", async () => {
  const { home, env, as } = await citing();
  expect(await as("run", "why => completed", "--json")).toMatchObject({ code: 0 });
  expect(await as("check", "@last")).toMatchObject({ code: 14 });
  const [shown] = jsonLines((await as("show", "@last", "--json")).stdout);
  expect(shown).toMatchObject({
    check: { checked_at: expect.any(String), counts: { missing: 1, citations: 7 } },
  });
  expect((await as("show", "@last")).stdout).toMatch(/checked +7 citations: 1 missing.*, at \d{4}-/);
  expect(marksOf((await as("output", "@last", "--html")).stdout)).toEqual(VERDICTS);
  const folder = join(home, ".local/state/research/checks");
  expect(readdirSync(folder)).toHaveLength(1);
  const clock = { ...systemClock, now: () => systemClock.now() + 2 * 3_600_000 };
  const forgotten = await inProcess(["history", "forget", "@last"], {
    env: environment(home, env),
    clock,
  });
  expect(forgotten.code).toBe(0);
  expect(readdirSync(folder)).toEqual([]);
});

test("the file that `run` wrote and the id have the same verdicts", async () => {
  const { home, as } = await citing();
  await as("run", "why => completed", "-o", "report.md");
  const citationsOf = async (name: string) =>
    jsonLines((await as("check", name, "--json")).stdout)[0]?.citations;
  const ofId = await citationsOf("@last");
  writeFileSync(join(home, "report.json"), (await as("output", "@last", "--json")).stdout);
  expect(ofId).toHaveLength(VERDICTS.length);
  for (const name of ["report.md", "report.json"]) expect(await citationsOf(name)).toEqual(ofId);
});

test("`run --check` says what is wrong after the result, and ends with 14", async () => {
  const { url, as } = await citing();
  const run = (...flags: string[]) => as("run", "why => completed", "--check", ...flags);
  const plain = await run();
  expect(plain.code).toBe(14);
  expect(plain.stdout).toContain(reportOf(url));
  expect(plain.stderr).toContain("missing  The pool takes 1,700 connections.");
  expect(plain.stderr).toContain("7 citations: 1 missing, 1 gone");
  const { code, stdout, stderr } = await run("--json");
  expect(code).toBe(14);
  expect(jsonLines(stdout)).toHaveLength(1);
  const notice = {
    ...{ code: "CHECKED", message: expect.any(String), request_id: expect.stringMatching(/^resp_/) },
    counts: expect.objectContaining({ missing: 1, citations: 7 }),
  };
  expect(jsonLines(stderr)).toContainEqual({ notice });
  const [shown] = jsonLines((await as("show", "@last", "--json")).stdout);
  expect(shown).toMatchObject({ check: { counts: { missing: 1 } } });
});

test("`run --check` checks a result that does not fit its schema, too, and ends with 13", async () => {
  const { as } = await citing();
  const schema = '{"type":"object","properties":{},"required":[],"additionalProperties":false}';
  const { code, stderr } = await as(
    "run",
    "why => completed",
    "--check",
    "--strict",
    "--schema",
    schema,
    "--json",
  );
  expect(code).toBe(13);
  const counts = expect.objectContaining({ citations: 7 });
  expect(jsonLines(stderr)).toContainEqual({ notice: expect.objectContaining({ code: "CHECKED", counts }) });
});

test("what hinders the check after a run changes no exit code", async () => {
  const double = await ProviderDouble.start("openai", {
    result: () => "# T\n\nIt takes 5 (http://1.1.1.1/x).",
  });
  const env = { ...double.env, HTTP_PROXY: "http://127.0.0.1:9" };
  const { code, stderr } = await research(["run", "why => completed", "--check", "--json"], { env });
  expect(code).toBe(0);
  expect(jsonLines(stderr)).toMatchObject([
    { notice: { code: "NOT_CHECKED", request_id: expect.any(String) } },
  ]);
});

test("`batch --check` checks each row once, a done one by the same command later, and reads each page once", async () => {
  const { asked, home, as } = await citing({ "q.txt": "one => completed\ntwo => completed\n" });
  const batch = (...flags: string[]) => as("batch", "q.txt", "--out", "r", "--json", ...flags);
  const lines = () => jsonLines(readFileSync(join(home, "r/results.jsonl"), "utf8"));
  expect(await batch()).toMatchObject({ code: 0 });
  expect(lines().map((line) => line.check)).toEqual([undefined, undefined]);
  const check = {
    checked_at: expect.any(String),
    counts: expect.objectContaining({ missing: 1, citations: 7 }),
  };
  const later = await batch("--check");
  expect(later.code).toBe(14);
  const rows = jsonLines(later.stdout).filter((line) => line.check !== undefined);
  expect(rows).toMatchObject([{ check }, { check }]);
  expect(lines()).toMatchObject([{ check }, { check }]);
  expect(asked.sort()).toEqual(["/nothing", "/nothing", "/pool", "/tides"]);
  // The rows are checked, so that nothing is asked for again.
  expect(await batch("--check")).toMatchObject({ code: 14 });
  expect(asked).toHaveLength(4);
  expect(await batch()).toMatchObject({ code: 0 });
});

test("the pages of `batch --html` have the marks of a check, and those of results that were kept without one none", async () => {
  const { home, as } = await citing({ "q.txt": "one => completed\n" });
  const batch = async (...flags: string[]) => {
    await as("batch", "q.txt", "--out", "r", "--html", ...flags);
    const [page = ""] = readdirSync(join(home, "r")).filter((name) => /^(?!index).*\.html$/.test(name));
    return marksOf(readFileSync(join(home, "r", page), "utf8"));
  };
  expect(await batch()).toEqual([]);
  expect(await batch("--check")).toEqual(VERDICTS);
  expect(await batch()).toEqual(VERDICTS);
});

test("`batch --check` says of a row which marks lead nowhere, and that it was not checked", async () => {
  const double = await ProviderDouble.start("openai", { result: () => COPIED });
  const home = folderWith({ "q.txt": "one => completed\n" });
  const args = ["batch", "q.txt", "--out", "r", "--json", "--check"];
  const { code, stderr } = await research(args, { home, cwd: home, env: double.env });
  expect(code).toBe(0);
  const request_id = expect.stringMatching(/^resp_/);
  for (const notice of ["MARKS_WITHOUT_SOURCE", "NOT_CHECKED"])
    expect(jsonLines(stderr)).toContainEqual({
      notice: { code: notice, message: expect.any(String), request_id },
    });
});

test("`batch --check` names marks without a source and sources that nothing cites, and counts them in the row", async () => {
  const { url, env } = await publicWeb();
  const double = await ProviderDouble.start("openai", { result: () => halfCited(url) });
  const home = folderWith({ "q.txt": "one => completed\n" });
  const args = ["batch", "q.txt", "--out", "r", "--json", "--check"];
  const { stderr } = await research(args, { home, cwd: home, env: { ...double.env, ...env } });
  const notices = jsonLines(stderr).flatMap(({ notice }) => notice ?? []);
  expect(notices).toMatchObject([
    {
      code: "MARKS_WITHOUT_SOURCE",
      message: expect.stringMatching(/such as \[7\]\. Export .* Markdown or docx/),
    },
    { code: "SOURCES_NOT_CITED", message: expect.stringContaining(`such as ${url}/tides`) },
    { code: "CHECKED", counts: { marks_without_source: 1, sources_not_cited: 1 } },
  ]);
  const [row] = jsonLines(readFileSync(join(home, "r", "results.jsonl"), "utf8")).slice(-1);
  expect(row).toMatchObject({ check: { counts: { marks_without_source: 1, sources_not_cited: 1 } } });
});

test("a new row of `batch --check` is checked before its end is said", async () => {
  const { as } = await citing({ "q.txt": "one => completed\n" });
  const { code, stdout } = await as("batch", "q.txt", "--out", "r", "--json", "--check");
  expect(code).toBe(14);
  const final = jsonLines(stdout).filter((line) => line.final === true);
  expect(final).toMatchObject([{ status: "COMPLETED", check: { counts: { missing: 1 } } }]);
});

test("hostile pages are unreadable, and no verdict needs them", async () => {
  const packed = gzipSync(Buffer.alloc(50_000_000));
  const server = createServer(({ url }, response) => {
    const type = { "content-type": "text/html" };
    if (url === "/packed") response.writeHead(200, { ...type, "content-encoding": "gzip" }).end(packed);
    else if (url === "/round") response.writeHead(302, { location: "/round" }).end();
    else if (url === "/cloud") response.writeHead(302, { location: "http://169.254.169.254/latest" }).end();
    else if (url === "/picture") response.writeHead(200, { "content-type": "image/png" }).end("x");
    else if (url === "/script") response.writeHead(200, type).end("<script>render()</script>");
    else if (url === "/robots.txt") response.writeHead(200).end(`#${"x".repeat(500_000)}`);
    else response.writeHead(200, type).end("<p>It takes 5 litres.</p>");
  });
  const port = await listen(server);
  const at = (path: string) => `http://127.0.0.1:${port}${path}`;
  const urls = ["/packed", "/round", "/cloud", "/picture", "/script"].map(at);
  urls.push(`http://user:password@127.0.0.1:${port}/x`, `${at("/")}${"x".repeat(3_000)}`);
  const input = [...urls, at("/well")].map((url) => `- It takes 5 litres (${url}).`).join("\n");
  const { code, stdout } = await research(["check", "-", "--allow-private"], { input });
  expect(stdout.split("\n").map((line) => line.split("\t")[0])).toEqual([
    ...urls.map(() => "unreadable"),
    "found",
    "",
  ]);
  expect(code).toBe(0);
});

test("10,000 links to one host are 100 requests at most", async () => {
  const { url, asked } = await citedWeb({});
  const input = Array.from({ length: 10_000 }, (_, i) => `- It takes 5 (${url}/${i}).`).join("\n");
  const { stdout } = await research(["check", "-", "--allow-private", "--json", "--pages", "20"], { input });
  expect(asked).toHaveLength(40);
  expect(jsonLines(stdout)).toMatchObject([{ complete: false, counts: { gone: 20, unreadable: 9_980 } }]);
});

test("Ctrl-C gives what was checked, and dies of the signal", async () => {
  const server = createServer(() => {});
  const url = `http://127.0.0.1:${await listen(server)}/x`;
  const asked = new Promise((resolve) => server.once("request", resolve));
  const argv = ["check", "-", "--allow-private", "--json"];
  const run = new InProcess(argv, { env: environment(folderWith()), input: `It takes 5 (${url}).` });
  await asked;
  run.signal("SIGINT");
  const { signal, stdout } = await run.done;
  expect(signal).toBe("SIGINT");
  expect(jsonLines(stdout)).toMatchObject([{ complete: false, counts: { unreadable: 1 } }]);
});
