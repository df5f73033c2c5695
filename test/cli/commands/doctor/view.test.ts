import { expect, test } from "vitest";

import { type CheckResult, formatCheckTable } from "../../../../src/cli/commands/doctor/run.js";
import { NAMED } from "../../../support/style.js";

const RESULTS: CheckResult[] = [
  { id: "dns", status: "ok", message: "found\nat 192.0.2.1" },
  { id: "settings", status: "warn", message: "readable by others", fix: "chmod\n600 file" },
  { id: "key", status: "fail", message: "refused", fix: "research login", exitCode: 4 },
  { id: "quota", status: "skipped", message: "needs a key" },
];

test("a line for each check: aligned, in its colour, safe, with the fix", () => {
  expect(formatCheckTable(RESULTS, NAMED)).toBe(
    [
      "<good>ok     </>  dns       found at 192.0.2.1",
      "<busy>warn   </>  settings  readable by others; fix: chmod 600 file",
      "<bad>fail   </>  key       refused; fix: research login",
      "<dim>skipped</>  quota     needs a key",
      "",
    ].join("\n"),
  );
});
