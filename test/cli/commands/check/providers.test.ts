import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { requireBuild } from "../../../support/build.js";
import { citedWeb } from "../../../support/cited-web.js";
import { folderWith } from "../../../support/folder.js";
import { research } from "../../../support/in-process.js";
import type { Source } from "../../../support/providers/answers.js";
import type { ProviderName } from "../../../support/providers/bodies.js";
import { ProviderDouble } from "../../../support/providers/double.js";
import { jsonLines } from "../../../support/world.js";

// Pages are read in a process of the build.
beforeAll(requireBuild);

const PAGES = {
  "/pool": "<title>Pool</title><h1>Pool</h1><p>The pool “takes” 1,600 connections — at most.</p>",
  "/wait":
    "<title>Wait</title><h1>Waiting</h1><p>The pool waits for 2500 ms, and it is closed on 21 July 2010.</p>",
};
const VERDICTS = ["found", "found", "missing", "found", "gone"];
const SENTENCES = [
  "The pool takes 1,600 connections",
  "It waits for 2.5 s",
  "It waits for 3.5 s",
  "It was closed on July 21, 2010",
  "It was opened again in 2014",
];

interface Form {
  /** The report, of sentences with a mark each, by the number of the page. */
  report(urls: readonly string[], cite: (nth: number) => string): string;
  /** How the text cites page `nth`. */
  mark(nth: number, url: string): string;
}

const paragraph: Form["report"] = (_urls, cite) =>
  `# The pool\n\n${SENTENCES.map((sentence, i) => `${sentence}${cite([0, 1, 1, 1, 2][i] ?? 0)}.`).join(" ")}\n`;
const listed =
  (line: (nth: number, url: string) => string, heading: string): Form["report"] =>
  (urls, cite) =>
    `${paragraph(urls, cite)}\n${heading}\n\n${urls.map((url, nth) => line(nth + 1, url)).join("\n")}\n`;

/** As each of them writes a report. */
const FORMS: Record<ProviderName, Form> = {
  openai: { report: paragraph, mark: (_nth, url) => ` ([127.0.0.1](${url}#:~:text=pool))` },
  perplexity: { report: paragraph, mark: (nth) => `[${nth}]` },
  exa: { report: paragraph, mark: (_nth, url) => ` ([Page](${url}))` },
  parallel: {
    report: listed((nth, url) => `${nth}. *[Page ${nth}](${url})*`, "## References"),
    mark: (nth) => ` [${nth}]`,
  },
  gemini: {
    report: listed((nth, url) => `${nth}. [127.0.0.1](${url})`, "**Sources:**"),
    mark: (nth) => ` [cite: ${nth}]`,
  },
  tavily: {
    report: listed((nth, url) => `[${nth}] Page: ${url}`, "### Sources"),
    mark: (nth) => ` [${nth}]`,
  },
};

async function verdictsOf(
  provider: ProviderName,
  result: unknown,
  sources: readonly Source[],
  schema = false,
) {
  const double = await ProviderDouble.start(provider, { result: () => result, sources });
  const home = folderWith({ "schema.json": JSON.stringify(SCHEMA) });
  const schemaFlags = schema ? ["--schema", "schema.json"] : [];
  const env = { ...double.env };
  const ran = await research(["run", "why => completed", "-o", "report.md", ...schemaFlags], {
    home,
    cwd: home,
    env,
  });
  expect(ran).toMatchObject({ code: 0 });
  expect(double.problems).toEqual([]);
  const check = async (name: string) => {
    const args = ["check", name, "--allow-private", "--json"];
    const { code, stdout } = await research(args, { home, cwd: home, env });
    expect(code).toBe(14);
    const [outcome] = jsonLines(stdout) as unknown as { citations: { verdict: string; urls: string[] }[] }[];
    return outcome?.citations;
  };
  const ofId = await check("@last");
  const { stdout } = await research(["output", "@last", "--json"], { home, env });
  writeFileSync(join(home, "report.json"), stdout);
  expect(await check("report.json")).toEqual(ofId);
  return { ofId, ofFile: schema ? ofId : await check("report.md") };
}

const SCHEMA = {
  type: "object",
  properties: {
    pool_limit: { type: "integer", description: "The limit of the pool" },
    wait_ms: { type: "integer", description: "How long it waits" },
    closed: { type: "string", description: "When it was closed" },
  },
  required: ["pool_limit", "wait_ms", "closed"],
  additionalProperties: false,
};

describe.each(Object.entries(FORMS) as [ProviderName, Form][])("a report of %s", (provider, form) => {
  test("has the same verdicts by its id, its data and its file", async () => {
    const { url } = await citedWeb(PAGES);
    const urls = ["/pool", "/wait", "/nothing"].map((path) => url + path);
    const text = form.report(urls, (nth) => form.mark(nth + 1, urls[nth] ?? ""));
    const sources = urls.map((each) => ({ url: each, title: "Page" }));
    const { ofId, ofFile } = await verdictsOf(provider, text, sources);
    expect(ofId?.map(({ verdict }) => verdict)).toEqual(VERDICTS);
    expect(ofFile).toEqual(ofId);
  });
});

test.each(["openai", "gemini"] as const)(
  "%s: what it cites without a mark has a verdict",
  async (provider) => {
    const { url } = await citedWeb(PAGES);
    const text = "Über den Pool – kurz. The pool takes 1,600 connections. It waits for 3.5 s.\n";
    const sizeOf = (part: string) => (provider === "gemini" ? Buffer.byteLength(part) : part.length);
    const at = (sentence: string, path: string): Source => ({
      ...{ url: url + path, title: "Page", start_index: sizeOf(text.slice(0, text.indexOf(sentence))) },
      end_index: sizeOf(text.slice(0, text.indexOf(sentence) + sentence.length)),
    });
    const sources = [at("The pool takes 1,600 connections.", "/pool"), at("It waits for 3.5 s.", "/wait")];
    const double = await ProviderDouble.start(provider, { result: () => text, sources });
    const home = folderWith();
    await research(["run", "why => completed"], { home, env: double.env });
    const { stdout } = await research(["check", "@last", "--allow-private"], { home, env: double.env });
    expect(stdout).toBe(
      `found\t${url}/pool\t\tThe pool takes 1,600 connections.\nmissing\t${url}/wait\t3.5 s\tIt waits for 3.5 s.\n`,
    );
  },
);

test.each(["exa", "parallel"] as const)(
  "%s: each field of a structured result is held against its pages",
  async (provider) => {
    const { url } = await citedWeb(PAGES);
    const source = (field: string, path: string) => ({ field, url: url + path, title: "Page" });
    const sources = [source("pool_limit", "/pool"), source("wait_ms", "/wait"), source("closed", "/wait")];
    const result = { pool_limit: 1600, wait_ms: 2500, closed: "2010-07-22" };
    const { ofId } = await verdictsOf(provider, result, sources, true);
    expect(ofId).toMatchObject([
      { field: "pool_limit", claim: "1600", verdict: "found" },
      { field: "wait_ms", claim: "2500", verdict: "found" },
      { field: "closed", claim: "2010-07-22", verdict: "missing" },
    ]);
  },
);
