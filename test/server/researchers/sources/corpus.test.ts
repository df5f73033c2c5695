import { expect, it } from "vitest";
import { Corpus } from "../../../../src/server/researchers/sources/corpus.js";
import { folderWith } from "../../../support/folder.js";

it("gives the lines of a file as they read, cut at its ends", async () => {
  const corpus = new Corpus({
    root: folderWith({ "a.md": "one\ntwo\nthree", "b.html": "<p>one\n<b>two</b></p>" }),
  });
  expect(await corpus.read("a.md", 2, 9)).toEqual(["two", "three"]);
  expect(await corpus.read("a.md", -3, 1)).toEqual(["one"]);
  expect(await corpus.read("b.html", 1, 2)).toEqual(["one", "two"]);
  expect(await corpus.read("../a.md", 1, 2)).toBeUndefined();
});

it("finds tables whole, with what is around them", async () => {
  const table = "# Limits\n\nPer hour:\n\n| Tier | Most |\n|---|---|\n| Free | 10 |\n| Pro | 100 |\n";
  const corpus = new Corpus({ root: folderWith({ "a.md": table }) });
  expect(await corpus.tables("which tier", 5)).toEqual([
    {
      file: "a.md",
      header: ["Tier", "Most"],
      rows: [
        { line: 7, cells: ["Free", "10"] },
        { line: 8, cells: ["Pro", "100"] },
      ],
      around: "Limits Per hour:",
    },
  ]);
});

it("says what it did not read", async () => {
  const notices: string[] = [];
  const files = { "a.md": "a", "big.md": "x".repeat(1_048_577) };
  const corpus = new Corpus({ root: folderWith(files) }, (line) => notices.push(line));
  expect(await corpus.summary()).toEqual({ files: 1, skipped: ["big.md"] });
  expect(notices).toEqual(["too large to be searched: big.md"]);
});
