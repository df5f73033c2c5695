import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { folderWith } from "../support/folder.js";
import { research } from "../support/in-process.js";
import { NODE, PROGRAM, start } from "../support/run.js";

const SCHEMA = JSON.stringify({ properties: { apples: { type: "integer" } }, required: ["apples"] });
const PROMPT = "How many apples does a basket hold?";
const TEXT = "A basket holds 12 apples.\n";

test("--verbose names the lines that the values of a structured result are from", async () => {
  const cwd = folderWith({ "fruit/a.md": "# What a basket holds\n\nApples: 12\n" });
  const quiet = await research(["try", PROMPT, "--schema", SCHEMA], { cwd });
  expect(quiet).toMatchObject({ code: 0, stdout: '{\n  "apples": 12\n}\n' });
  expect(quiet.stderr).not.toContain("fruit/a.md:3");
  const verbose = await research(["try", PROMPT, "--schema", SCHEMA, "--verbose"], { cwd });
  expect(verbose).toMatchObject({ code: 0, stdout: quiet.stdout });
  expect(verbose.stderr).toContain("the values are from fruit/a.md:3");
});

test("files that are too large to be read are named, in the report and on stderr", async () => {
  const cwd = folderWith({ "a.md": TEXT, "big.log": "x".repeat(8_388_609) });
  const { stdout, stderr, code } = await research(["try", PROMPT], { cwd });
  expect(code).toBe(0);
  expect(stdout).toContain("1 file was read. Not read: big.log (larger than 8 MiB).");
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
