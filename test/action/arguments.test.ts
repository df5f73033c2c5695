import { describe, expect, test } from "vitest";
import { commandOf, InputError, readInputs } from "../../action/arguments.js";

const command = (env: Record<string, string>) => commandOf(readInputs(env));
const hostile = '--help"; touch X; $(touch X) `touch X`\n--output=/etc/passwd';

describe("each mode is one command line", () => {
  test.each<[string, Record<string, string>, string[], string]>([
    [
      "run",
      { INPUT_PROMPT: "why?", INPUT_OUTPUT: "r.md", INPUT_TIMEOUT: "2h", INPUT_TIER: "pro" },
      ["run", "--output=r.md", "--timeout=2h", "--tier=pro", "-"],
      "why?",
    ],
    [
      "create",
      { INPUT_PROMPT_FILE: "q.txt", INPUT_SCHEMA: "s.json", INPUT_TIMEOUT: "2h" },
      ["create", "--schema=s.json", "--prompt-file=q.txt"],
      "",
    ],
    [
      "collect",
      { INPUT_OUTPUT: "r.md", INPUT_TIMEOUT: "5h" },
      ["output", "--watch", "--output=r.md", "--timeout=5h", "--", "@last"],
      "",
    ],
    [
      "collect",
      { INPUT_OUTPUT: "r.md", INPUT_REQUEST_ID: "-x" },
      ["output", "--watch", "--output=r.md", "--", "-x"],
      "",
    ],
    [
      "batch",
      { INPUT_OUTPUT: "answers", INPUT_BATCH_FILE: "q.jsonl", INPUT_TIER: "free" },
      ["batch", "--out=answers", "--tier=free", "--", "q.jsonl"],
      "",
    ],
    [
      "run",
      {
        ...{
          INPUT_PROMPT: "why?",
          INPUT_OUTPUT: "r.html",
          INPUT_PER_HOUR: "40",
          INPUT_WAIT_FOR_QUOTA: "true",
        },
        ...{ INPUT_FORCE: "true", INPUT_STRICT: "true", INPUT_HTML: "true", INPUT_RETRY_FAILED: "false" },
      },
      ["run", "--output=r.html", "--per-hour=40", "--wait-for-quota", "--force", "--strict", "--html", "-"],
      "why?",
    ],
    [
      "batch",
      {
        ...{ INPUT_OUTPUT: "a", INPUT_BATCH_FILE: "q.txt", INPUT_MAX_FAILURES: "3" },
        ...{ INPUT_RETRY_FAILED: "true", INPUT_HTML: "true", INPUT_STRICT: "false" },
      },
      ["batch", "--out=a", "--max-failures=3", "--html", "--retry-failed", "--", "q.txt"],
      "",
    ],
  ])("%s", (mode, inputs, args, stdin) => {
    expect(command({ INPUT_MODE: mode, ...inputs })).toEqual({ args, stdin });
  });
});

test("a prompt travels through stdin only, exactly as it is", () => {
  const { args, stdin } = command({ INPUT_MODE: "run", INPUT_OUTPUT: "r.md", INPUT_PROMPT: ` ${hostile}\n` });
  expect(stdin).toBe(` ${hostile}\n`);
  expect(args).toEqual(["run", "--output=r.md", "-"]);
});

test("a hostile value stays the value of its flag", () => {
  const { args } = command({
    INPUT_MODE: "run",
    INPUT_OUTPUT: "r.md",
    INPUT_PROMPT: "p",
    INPUT_TIER: hostile,
  });
  expect(args.filter((arg) => arg.includes("touch"))).toEqual([`--tier=${hostile}`]);
});

test.each([
  ["run", { INPUT_PROMPT: "p" }, "--output=research-report.md"],
  ["collect", {}, "--output=research-report.md"],
  ["batch", { INPUT_BATCH_FILE: "q" }, "--out=research-results"],
])("without an output %s writes to a file or a folder of its own name", (mode, inputs, flag) => {
  expect(command({ INPUT_MODE: mode, INPUT_OUTPUT: "", ...inputs }).args).toContain(flag);
});

test.each<[string, Record<string, string>]>([
  ["invalid mode", { INPUT_MODE: "watch", INPUT_OUTPUT: "o" }],
  ["prompt is empty", { INPUT_MODE: "run", INPUT_OUTPUT: "o", INPUT_PROMPT: " \n" }],
  ["not both", { INPUT_MODE: "run", INPUT_OUTPUT: "o", INPUT_PROMPT: "p", INPUT_PROMPT_FILE: "f" }],
  ["batch-file", { INPUT_MODE: "batch", INPUT_OUTPUT: "o" }],
  ["invalid force", { INPUT_MODE: "run", INPUT_OUTPUT: "o", INPUT_PROMPT: "p", INPUT_FORCE: "yes" }],
  [
    "does not take the input retry-failed",
    { INPUT_MODE: "run", INPUT_OUTPUT: "o", INPUT_PROMPT: "p", INPUT_RETRY_FAILED: "true" },
  ],
])("%s is an error", (message, env) => {
  expect(() => command(env)).toThrow(InputError);
  expect(() => command(env)).toThrow(message);
});
