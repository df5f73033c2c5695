import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { folderWith } from "../support/folder.js";
import { research } from "../support/in-process.js";
import { NODE, PROGRAM, start } from "../support/run.js";

const SCHEMA = JSON.stringify({ properties: { apples: { type: "integer" } }, required: ["apples"] });
const PROMPT = "How many apples does a basket hold?";
const TEXT = "A basket holds 12 apples.\n";

test("a schema without a model is FAILED, and says what it needs", async () => {
  const cwd = folderWith({ "a.md": TEXT });
  const { stdout, stderr, code } = await research(["try", PROMPT, "--schema", SCHEMA], { cwd });
  expect({ stdout, code }).toEqual({ stdout: "", code: 3 });
  expect(stderr).toMatch(/schema needs a model.*--answers/);
});

test("the sources of the passages are in the output's data", async () => {
  const { stdout } = await research(["try", PROMPT, "--json"], { cwd: folderWith({ "a.md": TEXT }) });
  expect(JSON.parse(stdout).sources).toEqual([{ title: "a.md", file: "a.md" }]);
});

const ANSWERS = [
  { prompt: "apples", output: { apples: "twelve" }, after: "1ms" },
  { prompt: "pears", fail: "No source speaks of pears." },
];
const withAnswers = (answers: unknown, prompt: string, ...more: string[]) =>
  research(["try", prompt, "--answers", "answers.json", ...more], {
    cwd: folderWith({ "answers.json": typeof answers === "string" ? answers : JSON.stringify(answers) }),
  });

test("--answers FILE answers as the first entry that stands in the question says, and else with the sample", async () => {
  const fits = await withAnswers(ANSWERS, PROMPT, "--schema", SCHEMA);
  expect(fits).toMatchObject({ code: 0, stdout: '{\n  "apples": "twelve"\n}\n' });
  const failed = await withAnswers(ANSWERS, "How many pears?");
  expect(failed).toMatchObject({ code: 3, stdout: "" });
  expect(failed.stderr).toContain("No source speaks of pears.");
  // As it is written: another case is another text.
  expect((await withAnswers(ANSWERS, "How many APPLES?")).stdout).toContain("This is a sample");
  const any = await withAnswers([{ prompt: "*", output: "any" }, ...ANSWERS], PROMPT);
  expect(any).toMatchObject({ code: 0, stdout: "any" });
});

test("an output of --answers is given as it is, its numbers too, and may be long", async () => {
  const text =
    '[{"prompt": "long", "output": "LONG"}, {"prompt": "*", "output": {"n": [1.0, 12345678901234567890]}}]';
  const exact = await withAnswers(text, PROMPT);
  expect(exact.stdout).toBe('{\n  "n": [\n    1.0,\n    12345678901234567890\n  ]\n}\n');
  const long = "x".repeat(2_000_000);
  expect((await withAnswers(text.replace("LONG", long), "long")).stdout).toBe(long);
});

test.each<[string, unknown]>([
  ["no JSON", "[1"],
  ["no array", {}],
  ["neither output nor fail", [{ prompt: "a" }]],
  ["both", [{ prompt: "a", output: 1, fail: "b" }]],
  ["no prompt", [{ output: 1 }]],
  ["an unknown member", [{ prompt: "a", output: 1, status: "x" }]],
  ["no duration", [{ prompt: "a", output: 1, after: "soon" }]],
])("--answers with %s is exit 2", async (_name, answers) => {
  const { code, stderr } = await withAnswers(answers, PROMPT);
  expect(code).toBe(2);
  expect(stderr).toContain("invalid --answers: answers.json: ");
});

test("--answers that is not there is 12, and beside another researcher 2", async () => {
  expect((await research(["try", PROMPT, "--answers", "none.json"])).code).toBe(12);
  expect((await research(["try", PROMPT, "--answers", "sample", "--sources", "."])).code).toBe(2);
  expect((await research(["serve", "--answers", "sample", "--researcher", "cat"])).code).toBe(2);
  expect((await research(["serve", "--answers", "sample", "--upstream", "x"])).code).toBe(2);
});

test("--answers sample gives the same report, or the same value that fits the schema", async () => {
  const sample = (prompt: string, ...more: string[]) =>
    research(["try", prompt, "--answers", "sample", ...more]);
  const [one, other] = [await sample("a"), await sample("b")];
  expect(one.stdout).toContain("This is a sample");
  expect(other.stdout).toBe(one.stdout);
  const schema = (kind: object) =>
    JSON.stringify({ type: "object", required: ["n", "kind"], properties: { n: { type: "integer" }, kind } });
  const filled = await sample("a", "--schema", schema({ enum: ["b", "c"] }), "--strict");
  expect(filled).toMatchObject({ code: 0, stdout: '{\n  "n": 1,\n  "kind": "b"\n}\n' });
  const not = await sample("a", "--schema", schema({ type: "string", pattern: "^[A-Z]{2}$" }));
  expect(not.code).toBe(3);
  expect(not.stderr).toMatch(/No sample that fits the schema could be made .*--answers FILE/);
});

test("files that are too large to be read or give nearly no text are named, in the report and on stderr", async () => {
  const bare = `<html><body><p>a</p><div class="menu">${"entry ".repeat(50)}</div><div class="toc">${"entry ".repeat(50)}</div></body></html>`;
  const cwd = folderWith({
    "a.md": TEXT,
    "app.html": "<!doctype html><title>App</title><div></div>",
    "bare.html": bare,
    "big.log": "x".repeat(8_388_609),
  });
  const { stdout, stderr, code } = await research(["try", PROMPT], { cwd });
  expect(code).toBe(0);
  expect(stdout).toContain(
    "3 files were read. app.html, bare.html: nearly no text was found in it. Not read: big.log (larger than 8 MiB).",
  );
  expect(stderr).toContain("app.html, bare.html: nearly no text was found in it.");
  expect(stderr).toContain("not searched: big.log (larger than 8 MiB)");
});

test("a service whose data folder and key file lie in its sources never quotes them", async () => {
  const cwd = folderWith({ "a.md": TEXT });
  writeFileSync(join(cwd, "service.key"), "marmalade-xylophone-key-0123456789\n");
  const asked = ["serve", "--data", "d", "--api-key-file", "service.key", "--sources", ".", "--exec"];
  const ask = (prompt: string) =>
    start([...asked, `"${NODE}" "${PROGRAM}" run "${prompt}"`], { cwd, timeoutMs: 40_000 }).done;
  expect((await ask("What is marmalade for a xylophone?")).stdout).toContain("Nothing was found");
  const again = await ask("Is there marmalade on the xylophone?");
  expect(again).toMatchObject({ code: 0 });
  expect(again.stdout).toContain("Nothing was found");
  expect(again.stdout).toContain("1 file was read.");
});
