import { expect, test } from "vitest";
import { detectFormat } from "../../../../../src/cli/commands/batch/input/parse-formats.js";

test.each([
  ["q.csv", "anything", false, "csv"],
  ["q.TXT", '{"prompt":"x"}', true, "txt"],
  ["q.jsonl", "prompt,key", false, "jsonl"],
  ["q.ndjson", "prompt,key", false, "jsonl"],
  ["q.json", "one\ntwo", false, "txt"],
  ["-", "one\ntwo", false, "txt"],
  ["-", '\n  {"prompt":"x"}', false, "jsonl"],
  ["-", "key,prompt\na,b", false, "csv"],
  ["-", ' "key" , "prompt" \r\na,b', false, "csv"],
  ["-", "prompt", false, "txt"],
  ["-", "a,b\nkey,prompt", false, "txt"],
  ["-", "company", true, "csv"],
  ["-", "", false, "txt"],
  ["csv", "a", false, "txt"],
  ["a.csv.old2", "a", false, "txt"],
])("the format of %j that begins with %j (template: %s) is %s", (path, text, template, format) => {
  expect(detectFormat(path, text, template)).toBe(format);
});
