import { define, listUsualExits } from "../definition.js";
import { createWholeNumberParser, defineChoice, defineValue } from "../flag-values.js";
import { flags } from "../flags.js";

export const batch = define({
  name: "batch",
  summary: "submit many questions within the hourly limit",
  description:
    "Submit one question for each row and store every result. Creates are sent one at a time, within the hourly limit, " +
    "while earlier rows are watched and fetched. Run the same command again to resume: nothing is sent twice.",
  arguments: [
    [
      "<file|->",
      "one prompt per line, JSON Lines (prompt, key, profile, model, output_schema) or CSV (a prompt column)",
    ],
  ],
  flags: {
    "Questions:": {
      "--template <text>": "build the prompts from the columns: 'Compare {{company}} with {{rival}}'",
      "--format <format>": defineChoice(
        "the input format (default: by the file's name, else by its first line)",
        ["txt", "jsonl", "csv"],
      ),
      "--schema <file|json>": "a JSON Schema for rows without their own",
      "--structured": "ask for structured output without a schema",
      ...flags.context,
      ...flags.domains,
      "--dry-run":
        "send nothing; print the number of rows, the time they take, and the first prompts with their model",
      "-y, --yes": "do not ask before sending more than 20 rows",
    },
    "Sending again:": {
      "--retry-failed": "send rows again that FAILED or were refused",
      "--retry-partial": "send rows again that FAILED with a part of a result",
      "--resend-unknown": "send rows with an unknown outcome again; may create duplicates",
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
        "stop sending after this many rows FAILED, were refused or are unknown",
        createWholeNumberParser(1),
      ),
    },
  },
  output:
    "request id TAB STATUS TAB key or line TAB file, as each row ends; --json: one object per line for each change, and a summary",
  exits: {
    0: "all COMPLETED; otherwise the code of the row with the worst outcome",
    2: "bad input, or a row was refused",
    3: "a row FAILED",
    10: "a row was STOPPED",
    12: "the folder is in use by another batch, or cannot be written",
    ...listUsualExits(4, 5, 6, 7, 8, 9, 11, 14),
  },
  examples: [
    "research batch questions.txt --out answers --tier free",
    "research batch companies.csv --template 'What does {{company}} sell?' --out answers --dry-run",
  ],
  run: async () => (await import("./run.js")).batch,
});
