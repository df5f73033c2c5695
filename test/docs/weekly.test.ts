import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { folderWith } from "../support/folder.js";
import { ProviderDouble } from "../support/providers/double.js";
import { bash } from "../support/run.js";
import { shellCommand } from "../support/shell-command.js";

const PIPELINES = readFileSync(join(import.meta.dirname, "../../docs/pipelines.md"), "utf8");
const [, weekly = ""] = /^```bash\n(#![^`]*^# weekly\.sh[^`]*)^```/m.exec(PIPELINES) ?? [];

test("the weekly script mails what changed, and nothing in a week without news", async () => {
  let report = "";
  const double = await ProviderDouble.start("openai", { result: () => report, words: ["completed"] });
  const program = await shellCommand();
  const home = folderWith({ "weekly.sh": weekly, "news/.keep": "" });
  const run = (script: string) =>
    bash(`PATH="${program}:$PATH"\n${script}`, { env: double.env, home, timeoutMs: 60_000 });
  const on = (day: string) =>
    run(
      `mkdir -p bin; printf '#!/bin/sh\\nexec /bin/date -d ${day} "$@"\\n' > bin/date; chmod +x bin/date; PATH="$PWD/bin:$PATH"
      bash weekly.sh`,
    );
  const silent = { code: 0, stdout: "", stderr: "" };
  report = "The Free tier allows 120 requests an hour. It began on 3 May 2024.";
  expect(await run("research create 'Which limits are there?' > first.id")).toMatchObject({ code: 0 });
  expect((await on("2040-01-02")).stdout).toBe("");
  report = "1. Since 3 May 2024 there is a Free tier.\n2. It allows 120 requests in an hour.";
  expect((await on("2040-01-09")).stdout).toBe("");
  report = "Since 3 May 2024 there is a Free tier. It allows 250 requests in an hour.";
  const news = await on("2040-01-16");
  expect(news).toMatchObject({ code: 0 });
  expect(news.stdout).toContain(
    "## Another figure\n\n- It allows 250 requests in an hour.\n  - before: It allows 120 requests in an hour.\n",
  );
  // A second run of the day asks for nothing.
  expect(await on("2040-01-16")).toMatchObject(silent);
  expect(double.server.count("create")).toBe(4);
});
