import { join } from "node:path";
import { expect, it } from "vitest";
import type { ResearchUpdate } from "../../../src/core/researcher.js";
import { createExtractiveResearcher } from "../../../src/reader/passages/extractive-researcher.js";
import { folderWith, folderWithLinks } from "../../support/folder.js";
import { leftovers } from "../../support/leftovers.js";

const ROOT = join(import.meta.dirname, "../../..");
const question = (prompt: string, more = {}) => ({
  request_id: "r",
  prompt,
  structured_output: false,
  ...more,
});
const never = () => new AbortController().signal;

function researcherOn(folder: string, notices: string[] = []) {
  const researcher = createExtractiveResearcher({ root: folder, notice: (line) => notices.push(line) });
  leftovers.add(() => void researcher.close());
  return researcher;
}

const FILES = {
  "fruit/a.md":
    "# Fruit\n\n## Baskets\n\nA basket holds 12 apples,\nand no pears.\n\n| Crate | Apples |\n|---|---|\n| small | 40 |\n",
  "b.md": "# Cars\n\nA car has four wheels.\n",
};
const PROMPT = "How many apples does a basket hold?";

it("reports the passages that fit best, whole, each with its place and headings, and that they are no answer", async () => {
  const researcher = researcherOn(folderWith(FILES));
  const reports: ResearchUpdate[] = [];
  const report = String(await researcher.research(question(PROMPT), never(), (news) => reports.push(news)));
  expect(report).toContain(
    "1. `fruit/a.md:5`, Fruit / Baskets\n\n   > A basket holds 12 apples,\n   > and no pears.\n",
  );
  expect(report).toMatch(/These passages fit the question best\. They are not an answer\. .*--model/);
  expect(report).toContain("2 files were read.");
  expect(report).not.toContain("wheels");
  expect(reports).toEqual([{ sources: [{ title: "fruit/a.md", file: "fruit/a.md" }] }]);
});

it("quotes code as code, between fences that it does not end, and a row under the titles of its columns", async () => {
  const code = "def apples():\n    return '```'  # of the basket\n";
  const table = "# Baskets\n\n| Crate | Pears |\n|---|---|\n| small | 40 |\n";
  const page = "<pre>plums:<br>  red: 12</pre>";
  const researcher = researcherOn(folderWith({ "a.py": code, "b.md": table, "c.html": page }));
  const report = async (prompt: string) => String(await researcher.research(question(prompt), never()));
  const fenced = "   > ````\n   > def apples():\n   >     return '```'  # of the basket\n   > ````\n";
  expect(await report("Which basket has apples?")).toContain(`\`a.py:1\`\n\n${fenced}`);
  expect(await report("How many plums are red?")).toContain("   > plums:\n   >   red: 12\n");
  const row = "   > | Crate | Pears |\n   > |---|---|\n   > | small | 40 |\n";
  expect(await report("Pears of a small crate")).toContain(`\`b.md:5\`, Baskets\n\n${row}`);
});

it("gives a text together with the code that it leads to, once", async () => {
  const text = "# Fruit\n\nTo fill a basket with apples, type:\n\n```sh\nbasket fill apples\n```\n";
  const researcher = researcherOn(folderWith({ "a.md": text }));
  const ask = (more = {}) =>
    researcher.research(question("How do I fill a basket with apples?", more), never());
  expect(await ask()).toContain(
    "1. `a.md:3`, Fruit\n\n   > To fill a basket with apples, type:\n   >\n   > ```\n   > basket fill apples\n   > ```\n\n1 file",
  );
  expect(await ask({ structured_output: true })).toEqual({
    passages: [
      {
        source: "a.md",
        line: 3,
        heading: "Fruit",
        text: "To fill a basket with apples, type:\n\n\nbasket fill apples",
      },
    ],
  });
});

it("gives the passages as data, a row under the titles of its columns", async () => {
  const researcher = researcherOn(folderWith(FILES));
  const asData = (prompt: string) =>
    researcher.research(question(prompt, { structured_output: true }), never());
  const { passages } = (await asData(PROMPT)) as { passages: object[] };
  expect(passages[0]).toEqual({
    source: "fruit/a.md",
    line: 5,
    heading: "Fruit / Baskets",
    text: "A basket holds 12 apples,\nand no pears.",
  });
  expect(await asData("How many apples are in a small crate?")).toMatchObject({
    passages: [{ line: 10, heading: "Fruit / Baskets / Crate; Apples", text: "| small | 40 |" }, { line: 5 }],
  });
  expect(await asData("What does a kilogram of saffron cost?")).toEqual({ passages: [] });
});

it("gives what has less of the question after what has enough of it", async () => {
  const text = "# A\n\nThe basket holds apples and pears.\n\nThe basket is red.\n\nIt rains.\n";
  const { passages } = (await researcherOn(folderWith({ "a.md": text })).research(
    question("Are apples and pears in the basket?", { structured_output: true }),
    never(),
  )) as { passages: { line: number }[] };
  expect(passages.map(({ line }) => line)).toEqual([3, 5]);
});

it("finds nothing where too few of the question's rare words are", async () => {
  const researcher = researcherOn(folderWith(FILES));
  for (const prompt of ["What does a kilogram of apples cost?", "and or the", "?"]) {
    const reports: ResearchUpdate[] = [];
    const report = await researcher.research(question(prompt), never(), (news) => reports.push(news));
    expect(report, prompt).toContain("Nothing was found");
    expect(reports).toEqual([{ sources: [] }]);
  }
});

it("gives three to five passages, none twice, and only such as are close to the best", async () => {
  const text = (n: number) =>
    Array.from({ length: n }, (_, i) => `The apple basket number ${i} is full.\n\n`).join("");
  const far = `The apple is a fruit. ${"It grows on trees in the garden of the house. ".repeat(20)}\n\n`;
  const researcher = researcherOn(folderWith({ "a.md": text(9) + text(9), "b.md": far }));
  const { passages } = (await researcher.research(
    question("Which apple basket is full?", { structured_output: true }),
    never(),
  )) as { passages: { text: string }[] };
  expect(passages).toHaveLength(5);
  expect(new Set(passages.map((passage) => passage.text)).size).toBe(5);
});

it("fails a request with a schema, and says what it needs", async () => {
  const researcher = researcherOn(folderWith(FILES));
  const asked = question(PROMPT, { structured_output: true, output_schema: {} });
  await expect(researcher.research(asked, never())).rejects.toThrow(/schema needs a model.*--answers/);
});

it("a stop ends a research in the middle of its work", async () => {
  const text = Array.from({ length: 20_000 }, (_, i) => `Basket ${i} holds ${i} apples.\n\n`).join("");
  const researcher = researcherOn(folderWithLinks(text.slice(0, 900_000), 20));
  const stop = new AbortController();
  const reason = new Error("stopped");
  const work = researcher.research(question("How many apples?"), stop.signal);
  stop.abort(reason);
  await expect(work).rejects.toBe(reason);
});

it("says once that not everything was read", async () => {
  const notices: string[] = [];
  const researcher = researcherOn(folderWithLinks("The basket is red.", 5_001), notices);
  const report = await researcher.research(question("Which basket is red?"), never());
  expect(report).toContain("5000 files were read. Reading stopped at 5000 files.");
  await researcher.research(question("Which basket is red?"), never());
  expect(notices).toEqual(["reading the sources stopped at 5000 files; the rest is not searched"]);
});

it("refuses to start on what is no folder", () => {
  expect(() => researcherOn(join(ROOT, "no-such-folder"))).toThrow(/no-such-folder/);
  expect(() => researcherOn(join(ROOT, "package.json"))).toThrow("it is not a folder");
});
