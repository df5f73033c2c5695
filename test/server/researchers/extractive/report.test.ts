import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { expect, it } from "vitest";
import { find } from "../../../../src/server/researchers/extractive/find.js";
import { report } from "../../../../src/server/researchers/extractive/report.js";
import { Corpus } from "../../../../src/server/researchers/sources/corpus.js";
import { folderWith } from "../../../support/folder.js";
import { until } from "../../../support/service.js";

const DOCS = join(import.meta.dirname, "../../../../docs");

async function reportOn(folder: string, prompt: string): Promise<string> {
  return report(prompt, await find(new Corpus({ root: folder }), prompt));
}

const docs = new Corpus({ root: DOCS });
const reportOnDocs = async (prompt: string) => report(prompt, await find(docs, prompt));

/** Each quote of a report with its place: `n. \`file:line\`` and the quoted lines under it. */
function quotesIn(text: string): { file: string; line: number; quoted: string[] }[] {
  return [...text.matchAll(/^\d+\. `(.+):(\d+)`\n\n((?: {3}> .*\n)+)/gm)].map(
    ([, file = "", line, block = ""]) => ({
      file,
      line: Number(line),
      quoted: block
        .trimEnd()
        .split("\n")
        .map((one) => one.slice(5)),
    }),
  );
}

it.each([
  "What happens when the hourly limit is exceeded?",
  "Can a stopped conversation be restarted?",
  "What are the hourly limits?",
  "How are the states of a conversation called?",
])("about these documents: %s", async (prompt) => {
  const quotes = quotesIn(await reportOnDocs(prompt));
  expect(quotes.length).toBeGreaterThanOrEqual(3);
  for (const { file, line, quoted } of quotes) {
    const lines = readFileSync(join(DOCS, file), "utf8").split("\n");
    quoted.forEach((text, i) => {
      expect(lines[line - 1 + i]).toContain(text);
    });
  }
});

it("answers from the lines that say it", async () => {
  const text = await reportOnDocs("What happens when the hourly limit is exceeded?");
  const [answer = ""] = text.split("## Quotes");
  expect(answer).toContain("429");
  expect(answer).toContain("RATE_LIMIT_EXCEEDED");
  expect(quotesIn(text).some(({ file }) => file === "interface.md")).toBe(true);
});

it("quotes a sentence over several lines by its whole lines, and HTML by what it shows", async () => {
  const folder = folderWith({
    "a.md": "# Tea\n\nGreen tea is brewed with water\nthat does not boil at all.\n",
    "b.html":
      "<p>\n<b>Black tea</b> is brewed with boiling water.\n</p><script>\nvar brewed = 'tea water boil';\n</script>\n",
  });
  const quotes = quotesIn(await reportOn(folder, "How is tea brewed with water?"));
  expect(quotes).toContainEqual({
    file: "a.md",
    line: 3,
    quoted: ["Green tea is brewed with water", "that does not boil at all."],
  });
  expect(quotes.map(({ file, line }) => `${file}:${line}`)).toEqual(expect.arrayContaining(["b.html:2"]));
  expect(quotes.some(({ file, line }) => file === "b.html" && line > 3)).toBe(false);
});

it("does not take the question for an answer", async () => {
  const folder = folderWith({
    "a.md":
      "Ask `How hot is the water for tea?` in a shell on a machine.\n\nTea needs hot water of 80 degrees.\n",
  });
  const text = await reportOn(folder, "How hot is the water for tea?");
  expect(quotesIn(text).map(({ line }) => line)).toEqual([3]);
});

it("says so when there is nothing", async () => {
  const folder = folderWith({ "a.md": "Tea needs hot water.\n" });
  const text = await reportOn(folder, "zebra migration in Africa");
  expect(text).toContain("Nothing was found");
  expect(await reportOn(folder, "zebra migration to water in Africa")).toContain("Nothing was found");
  expect(text).toContain("1 file was read");
});

it("sees new, changed and deleted files", async () => {
  const folder = folderWith({ "a.md": "Green tea needs water of 80 degrees.\n" });
  const corpus = new Corpus({ root: folder });
  const quotes = (...expected: string[]) =>
    until(async () => {
      const found = await find(corpus, "How many degrees does green tea need?");
      return (
        isDeepStrictEqual(
          found.quotes.map(({ text }) => text),
          expected,
        ) || undefined
      );
    });
  await quotes("Green tea needs water of 80 degrees.");
  writeFileSync(join(folder, "a.md"), "Green tea needs water of 75 degrees and time.\n");
  await quotes("Green tea needs water of 75 degrees and time.");
  rmSync(join(folder, "a.md"));
  await quotes();
});
