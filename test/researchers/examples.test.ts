import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { stringifyExact } from "../../src/core/json/exact-json.js";
import { createCommandResearcher } from "../../src/researchers/command-researcher.js";
import { folderWith } from "../support/folder.js";

const EXAMPLES = join(import.meta.dirname, "../../docs/examples/researchers");
const hasPython = spawnSync("python3", ["--version"]).status === 0;

/** Asks one program, started anew for each question. */
function asker(command: string) {
  const researcher = createCommandResearcher({ command, env: { PATH: process.env.PATH } });
  afterAll(() => researcher.close());
  return (prompt: string, more = {}) =>
    researcher.research(
      { request_id: "r", prompt, structured_output: false, ...more },
      new AbortController().signal,
    );
}

describe("grep.sh", () => {
  const folder = folderWith({
    "a.md": "A basket holds 12 apples.\nA crate holds pears.\n",
    ".git/x": "basket apples",
    "sub/.hidden/x": "basket apples",
  });
  const QUESTION = "How many apples does a basket hold?";
  const grep = asker(`${EXAMPLES}/grep.sh ${folder}`);

  it("lists the lines that have the most words of the question", async () => {
    expect(await grep(QUESTION)).toBe(`# ${QUESTION}\n\n- ${folder}/a.md:1:A basket holds 12 apples.\n`);
  });

  const here = asker(
    `cd ${folder}; job=$(cat); for name in '' . ./ "../$(basename "$PWD")"; do printf %s "$job" | ${EXAMPLES}/grep.sh $name; done`,
  );
  it("searches the current folder, however it is named", async () => {
    const line = expect.stringMatching(/a\.md:1:A basket holds 12 apples\.$/);
    expect(String(await here(QUESTION)).match(/^- .*/gm)).toEqual(Array(4).fill(line));
  });

  it("fails where there is none", async () => {
    await expect(grep("zebra migration")).rejects.toThrow(`no line in ${folder} speaks of this`);
    await expect(grep("a b")).rejects.toThrow("the question has no word to look for");
  });
});

describe.skipIf(!hasPython)("sections.py (needs python3)", () => {
  const folder = folderWith({
    "fruit.md": "# Fruit\n\nAll of it.\n\n## Apples in a basket\n\nA basket holds 12.\n",
    ".hidden/x.md": "# Apples in a basket\n\nNone.\n",
  });
  const python = asker(`python3 ${EXAMPLES}/sections.py ${folder}`);
  const QUESTION = "How many apples does a basket hold?";

  it("prints the section that fits best, with its place", async () => {
    expect(await python(QUESTION)).toBe(`# ${QUESTION}\n\nA basket holds 12.\n\n\`${folder}/fruit.md:5\`\n`);
  });

  it("gives it as JSON for a structured output", async () => {
    const result = await python(QUESTION, { structured_output: true });
    expect(JSON.parse(stringifyExact(result))).toEqual({
      file: `${folder}/fruit.md`,
      line: 5,
      heading: "Apples in a basket",
      text: "A basket holds 12.",
    });
  });

  it("fails where there is none", async () => {
    await expect(python("zebra migration")).rejects.toThrow(`no section below ${folder} speaks of this`);
  });
});
