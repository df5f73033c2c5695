import { expect, it } from "vitest";
import { Corpus } from "../../../../src/server/researchers/sources/corpus.js";
import { folderWith } from "../../../support/folder.js";

it("opens the blocks of a stretch of a file, with its title", async () => {
  const corpus = new Corpus({
    root: folderWith({ "a.md": "# One\n\ntwo\n\nthree\nfour\n", "b.html": "<p>one\n<b>two</b></p>" }),
  });
  const two = { id: "a.md", line: 3, lines: ["two"], heading: "One", kind: "prose" };
  const three = { ...two, line: 5, lines: ["three", "four"] };
  expect(await corpus.open("a.md", -3, 3)).toEqual({
    document: { id: "a.md", title: "One" },
    passages: [two],
  });
  expect((await corpus.open("a.md", 3, 99))?.passages).toEqual([two, three]);
  expect((await corpus.open("a.md", 6, 6))?.passages).toEqual([three]);
  expect(await corpus.open("b.html", 1, 1)).toMatchObject({
    document: { title: "b.html" },
    passages: [{ lines: ["one", "two"] }],
  });
  expect(await corpus.open("../a.md", 1, 2)).toBeUndefined();
});

it("describes the folder: how many documents, their titles, languages, and what is not read", async () => {
  const corpus = new Corpus({
    root: folderWith({
      "a.md": "# Apples\n\nThe tree is in the garden of the house, and it is old.\n",
      "b.txt": "Der Baum steht in dem Garten und ist nicht von heute.\n",
      "big.md": "x".repeat(8_388_609),
    }),
  });
  expect(await corpus.describe()).toEqual({
    kind: "a folder of documents",
    documents: 2,
    titles: ["Apples (a.md)", "b.txt"],
    languages: ["en", "de"],
    unread: [{ name: "big.md", reason: "larger than 8 MiB" }],
    notes: [],
  });
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

it("tells what it does not read, as a notice", async () => {
  const notices: string[] = [];
  const files = { "a.md": "a", "big.md": "x".repeat(8_388_609), "nul.md": "a\0", "p.png": "p", "q.png": "q" };
  const corpus = new Corpus({ root: folderWith(files) }, (line) => notices.push(line));
  await corpus.refresh();
  expect(notices).toEqual(["not searched: big.md (larger than 8 MiB); p.png, q.png, nul.md (not text)"]);
});
