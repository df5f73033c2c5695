import { expect, it } from "vitest";
import { createFolderIndex } from "../../../src/reader/searching/folder-index.js";
import { folderWith } from "../../support/folder.js";

it("answers every research from one thread, says what is not searched once, and is made again after its end", async () => {
  const notices: string[] = [];
  const root = folderWith({ "a.md": "# Fruit\n\nA basket holds 12 apples.", "b.png": "b" });
  const index = createFolderIndex({ root, notice: (line) => notices.push(line) });
  const { signal } = new AbortController();
  const [one, other] = [index.for("1", signal), index.for("2", signal)];
  const [hits, opened, described] = await Promise.all([
    one.search("apples in a basket", 3),
    other.open("a.md", 1, 9),
    one.describe(),
  ]);
  expect(hits).toMatchObject([{ passage: { id: "a.md", line: 3, heading: "Fruit" }, score: 1, share: 1 }]);
  expect(opened?.document).toEqual({ id: "a.md", title: "Fruit" });
  expect(described.documents).toBe(1);
  expect(notices).toEqual(["not searched: b.png (not text)"]);
  const open = one.describe();
  await index.close();
  await expect(open).rejects.toThrow("its thread has ended");
  expect((await other.describe()).documents).toBe(1);
  expect(notices).toHaveLength(1);
  await index.close();
});

it("rejects what cannot be asked, and goes on", async () => {
  const index = createFolderIndex({
    root: folderWith({ "a.md": "A basket holds 12 apples." }),
    notice: () => {},
  });
  const source = index.for("1", new AbortController().signal);
  await expect(source.search(undefined as never, 3)).rejects.toThrow();
  expect((await source.describe()).documents).toBe(1);
  await index.close();
  expect(() => createFolderIndex({ root: "package.json", notice: () => {} })).toThrow("it is not a folder");
});
