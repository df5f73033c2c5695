import { expect, test } from "vitest";
import { History } from "../../src/store/history/history.js";
import { findEntry, requireEntry } from "../../src/workflows/targets.js";
import { folderWith } from "../support/folder.js";

const ORIGIN = "https://a.example";

/** A history with these request ids. */
function ports(...ids: string[]) {
  const history = new History(folderWith(), () => Date.UTC(2030, 0, 1));
  for (const id of ids)
    history.begin({ origin: ORIGIN, profile: null, apiKey: "k", body: { prompt: id } }).created(id, {});
  return { history, origin: ORIGIN };
}

test.each([
  ["abcd-1", "abcd-1"],
  ["abcd", "abcd-1"],
  ["abc", undefined],
  ["a", undefined],
  ["b12", "b12"],
  ["zzzz", undefined],
])("of the requests abcd-1 and b12, %j names %j", (text, expected) => {
  expect(findEntry(ports("abcd-1", "b12"), text)?.request_id).toBe(expected);
});

test("a prefix of several ids names none of them, and says which there are", () => {
  expect(() => findEntry(ports("abcd-1", "abcd-2"), "abcd")).toThrow(/2 ids: .*abcd-1/);
});

test.each(["..", "a/b", ""])("%j is no id", (text) => {
  expect(() => findEntry(ports(), text)).toThrow(/invalid request id/);
});

test("what must be in the history, and is not, is an error", () => {
  expect(() => requireEntry(ports("abcd-1"), "zzzz")).toThrow(/not in the history/);
});
