import { expect, test } from "vitest";

import { type CheckResult, resultLines, resultsJson } from "../../../../src/cli/commands/doctor/run.js";
import { NAMED } from "../../../support/style.js";

const RESULTS: CheckResult[] = [
  { id: "dns", status: "ok", message: "found\nat 192.0.2.1" },
  { id: "settings", status: "warn", message: "readable by others", fix: "chmod\n600 file" },
  { id: "key", status: "fail", message: "refused", fix: "research login", exitCode: 4 },
  { id: "quota", status: "skipped", message: "needs a key" },
];

test("a line for each check: aligned, in its colour, safe, with the fix", () => {
  expect(resultLines(RESULTS, NAMED)).toBe(
    [
      "<good>ok     </>  dns       found at 192.0.2.1",
      "<busy>warn   </>  settings  readable by others; fix: chmod 600 file",
      "<bad>fail   </>  key       refused; fix: research login",
      "<dim>skipped</>  quota     needs a key",
      "",
    ].join("\n"),
  );
});

test("for a program, with null for no fix and 0 for no exit code", () => {
  const { ok, checks } = resultsJson(RESULTS);
  expect(ok).toBe(false);
  expect(checks.slice(1, 3)).toEqual([
    { id: "settings", status: "warn", message: "readable by others", fix: "chmod\n600 file", exit_code: 0 },
    { id: "key", status: "fail", message: "refused", fix: "research login", exit_code: 4 },
  ]);
  expect(checks[3]).toMatchObject({ fix: null });
  expect(resultsJson(RESULTS.filter(({ status }) => status !== "fail")).ok).toBe(true);
});
