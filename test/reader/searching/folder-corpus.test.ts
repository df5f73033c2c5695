import { expect, it } from "vitest";
import { Corpus } from "../../../src/reader/searching/folder-corpus.js";
import { folderWith } from "../../support/folder.js";

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
      "garden/a.md": "# Apples\n\nThe tree is in the garden of the house, and it is old.\n",
      "b.txt": "Der Baum steht in dem Garten und ist nicht von heute.\n",
      "big.md": "x".repeat(8_388_609),
    }),
  });
  expect(await corpus.describe()).toEqual({
    kind: "a folder of documents",
    documents: 2,
    titles: ["b.txt", "Apples (garden/a.md)"],
    folders: ["garden (1)"],
    languages: ["de", "en"],
    unread: [{ name: "big.md", reason: "larger than 8 MiB" }],
    notes: [],
  });
});

it("names a file that gives less than a tenth of its text, in the report and as a notice", async () => {
  const notices: string[] = [];
  const menu = `<nav>${"<a>menu</a> ".repeat(50)}</nav>`;
  const files = {
    "shell.html": `<html><body>${menu}<div class="menu"><p>${"text ".repeat(20)}</p></div><p>${"more ".repeat(2)}</p>`,
    "app.html": "<html><head><title>App</title><body><div id=app></div><script>render()</script>",
    "data.txt": `name\n${"x".repeat(9_000)}\n`,
    "large.txt": `name\n${"x".repeat(200_000)}\n`,
    "short.html": `<html><body>${menu}<h1>Title</h1><p>One sentence.</p>`,
    "a.md": "A basket holds 12 apples.",
    "empty.md": "",
  };
  const corpus = new Corpus({ root: folderWith(files) }, (line) => notices.push(line));
  const named = "app.html, data.txt, large.txt: nearly no text was found in it.";
  expect((await corpus.describe()).notes).toEqual([named]);
  expect(notices).toEqual([named]);
});

it("tells what it does not read, as a notice", async () => {
  const notices: string[] = [];
  const files = { "a.md": "a", "big.md": "x".repeat(8_388_609), "nul.md": "a\0", "p.png": "p", "q.png": "q" };
  const corpus = new Corpus({ root: folderWith(files) }, (line) => notices.push(line));
  await corpus.refresh();
  expect(notices).toEqual(["not searched: big.md (larger than 8 MiB); p.png, q.png, nul.md (not text)"]);
});

it("stops where its passages take too much memory, and says so", async () => {
  const notices: string[] = [];
  const root = folderWith({ "a.md": "one kiwi\n\n".repeat(10_000), "b.md": "two kiwis\n" });
  const corpus = new Corpus({ root }, (line) => notices.push(line), 1_048_576);
  expect(await corpus.describe()).toMatchObject({
    documents: 1,
    notes: ["Reading stopped at 1 MiB of memory."],
  });
  expect(notices).toEqual(["reading the sources stopped at 1 MiB of memory; the rest is not searched"]);
});
