import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { extractiveResearcher } from "../../../../src/server/researchers/extractive/extractive-researcher.js";
import { ResearchFailure } from "../../../../src/server/researchers/researcher.js";
import { folderWith, folderWithLinks } from "../../../support/folder.js";

const ROOT = join(import.meta.dirname, "../../../..");
const question = (prompt: string, more = {}) => ({
  request_id: "r",
  prompt,
  structured_output: false,
  ...more,
});
const never = () => new AbortController().signal;

// The thread runs the bundle, which the tests build first; a lone run of this file may have to.
beforeAll(() => {
  if (!existsSync(join(ROOT, "dist/extractive-worker.js"))) {
    execFileSync("npx", ["rolldown", "-c", "build/rolldown.config.js"], { cwd: ROOT });
  }
});

function researcherOn(folder: string, workers = 2) {
  const notices: string[] = [];
  return {
    researcher: extractiveResearcher({ root: folder, workers, notice: (line) => notices.push(line) }),
    notices,
  };
}

it("reports from a thread, as text, as data, or as the schema wants it", async () => {
  const { researcher } = researcherOn(
    folderWith({ "a.md": "A basket holds 12 apples.\n", "b.md": "# What a basket holds\n\n- Apples: 12\n" }),
  );
  try {
    const prompt = "How many apples does a basket hold?";
    expect(await researcher.research(question(prompt), never())).toContain("> A basket holds 12 apples.");
    expect(await researcher.research(question(prompt, { structured_output: true }), never())).toMatchObject({
      answer: expect.stringContaining("12"),
      quotes: expect.arrayContaining([{ source: "a.md:1", text: "A basket holds 12 apples." }]),
      sources: expect.arrayContaining(["a.md"]),
    });
    const schema = (name: string) => ({
      structured_output: true,
      output_schema: { properties: { [name]: { type: "integer" } }, required: [name] },
    });
    expect(await researcher.research(question(prompt, schema("apples")), never())).toEqual({ apples: 12 });
    await expect(researcher.research(question(prompt, schema("pears")), never())).rejects.toThrow(
      "do not say pears",
    );
  } finally {
    await researcher.close();
  }
});

it("a stop ends a research in the middle of its work", async () => {
  const text = Array.from(
    { length: 20_000 },
    (_, i) => `Basket ${i} holds ${i} apples and ${i * 7} pears.\n\n`,
  ).join("");
  const { researcher } = researcherOn(folderWithLinks(text.slice(0, 900_000), 20), 1);
  try {
    const stop = new AbortController();
    const reason = new Error("stopped");
    const work = researcher.research(question("How many apples?"), stop.signal);
    setTimeout(() => stop.abort(reason), 200);
    await expect(work).rejects.toBe(reason);
  } finally {
    await researcher.close();
  }
});

it("says once that not everything was read", async () => {
  const { researcher, notices } = researcherOn(folderWithLinks("The basket is red.", 5_001), 1);
  try {
    const report = await researcher.research(question("Which basket is red?"), never());
    expect(report).toContain("5000 files were read. Reading stopped at 5000 files.");
    await researcher.research(question("Which basket is red?"), never());
    expect(notices).toEqual(["reading the sources stopped at 5000 files; the rest is not searched"]);
  } finally {
    await researcher.close();
  }
});

it("refuses to start on what is no folder", () => {
  expect(() => researcherOn(join(ROOT, "no-such-folder"))).toThrow(/no-such-folder/);
  expect(() => researcherOn(join(ROOT, "package.json"))).toThrow("it is not a folder");
});

it("ends a research whose schema has a pattern that takes for ever, and goes on with the next one", async () => {
  const text = `# Depot\n\nCode: ${"a".repeat(60)}!\n\nA basket holds 12 apples.\n`;
  // The time of the first research is over at once, and that of the next one never.
  const times = [Promise.resolve(), new Promise<void>(() => {})];
  const clock = { sleep: async () => times.shift() };
  const options = { workers: 1, notice: () => {}, clock };
  const researcher = extractiveResearcher({ root: folderWith({ "a.md": text }), ...options });
  const schema = { properties: { code: { type: "string", pattern: "(a+)+$" } }, required: ["code"] };
  try {
    const asked = question("What is the code of the depot?", {
      structured_output: true,
      output_schema: schema,
    });
    await expect(researcher.research(asked, never())).rejects.toThrow("The research took more than 120 s.");
    const next = await researcher.research(question("How many apples does a basket hold?"), never());
    expect(next).toContain("> A basket holds 12 apples.");
  } finally {
    await researcher.close();
  }
});

it("ends a research that needs too much memory, and goes on with the next one", async () => {
  const files = { "a.md": "A basket holds 12 apples.\n" };
  const options = { workers: 1, notice: () => {}, heapMib: 32 };
  const researcher = extractiveResearcher({ root: folderWith(files), ...options });
  const properties = Object.fromEntries(
    Array.from({ length: 900 }, (_, i) => [`p${i}`, { type: "string", description: `${i} `.repeat(20_000) }]),
  );
  try {
    const asked = question("How many apples?", { structured_output: true, output_schema: { properties } });
    await expect(researcher.research(asked, never())).rejects.toThrow(
      new ResearchFailure("The research took more than 32 MiB of memory."),
    );
    const next = await researcher.research(question("How many apples does a basket hold?"), never());
    expect(next).toContain("> A basket holds 12 apples.");
  } finally {
    await researcher.close();
  }
});
