import { defineCommand, listUsualExitCodes } from "../define-command.js";
import { createWholeNumberParser, defineValue } from "../flag-values.js";
import { flags } from "../shared-flags.js";

export const batch = defineCommand({
  name: "batch",
  summary: "submit many questions within the hourly limit",
  description:
    "Submit one question for each row and store every result. The command sends one create request at a time and stays within the hourly limit. " +
    "Meanwhile it waits for the earlier requests and stores their results. Run the same command again to resume: nothing is sent twice.",
  arguments: [
    [
      "<file|->",
      "one prompt per line, JSON Lines (prompt, key, profile, model, output_schema) or CSV (a prompt column)",
    ],
  ],
  flags: {
    "Questions:": {
      "--template <text>": "build the prompts from the columns: 'Compare {{company}} with {{rival}}'",
      "--schema <file|json>": "a JSON Schema for rows that have no schema of their own",
      "--structured": "ask for structured output without a schema",
      ...flags.context,
      ...flags.domains,
      "--dry-run":
        "send nothing; print the number of rows, the estimated time, and the first prompts with their model",
      "-y, --yes": "do not ask before sending more than 20 rows",
    },
    "Sending again:": {
      "--retry-failed": "resend rows that FAILED or were refused",
      "--retry-partial": "resend rows whose result was cut short or has no text",
      "--resend-unknown": "resend rows with an unknown outcome; may create duplicates",
    },
    "Account:": flags.provider,
    "Waiting:": { ...flags.pace, ...flags.notify },
    "Results:": {
      "--out <dir>": "the folder for the results, results.jsonl, and the state to resume from",
      "--html": "also write index.html and a page for each row",
      ...flags.check,
    },
    "Limits:": {
      ...flags.quota,
      ...flags.perDay,
      "--max-failures <n>": defineValue(
        "stop sending when this many rows have FAILED, were refused, or have an unknown outcome",
        createWholeNumberParser(1),
      ),
    },
  },
  output:
    "when a row ends: request id TAB STATUS TAB key (or line) TAB file. With --json: one object for each change of a row, and a summary at the end",
  exits: {
    0: "all rows COMPLETED; otherwise the worst outcome decides (research help exit-codes)",
    2: "bad input, or the service rejected the input of a row",
    3: "a row FAILED",
    10: "a row was STOPPED",
    12: "the folder is in use by another batch, or cannot be written",
    6: "the service refused a row for another reason, or the account has no money left",
    ...listUsualExitCodes(4, 5, 7, 8, 9, 11, 14),
  },
  examples: [
    "research batch questions.txt --out answers --tier free",
    "research batch companies.csv --template 'What does {{company}} sell?' --out answers --dry-run",
  ],
  run: async () => (await import("./run.js")).batch,
});
