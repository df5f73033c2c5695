import { define, listUsualExits } from "../definition.js";
import { createWholeNumberParser, defineChoice, defineValue } from "../flag-values.js";
import { flags } from "../flags.js";

export const batch = define({
  name: "batch",
  summary: "submit many questions at the pace of the hourly limit",
  description:
    "Submit one question a row and keep every result. Creates go one at a time and within the hourly limit; " +
    "watching and fetching go on beside them. The same command again goes on where the last one ended, " +
    "however it ended: nothing is sent twice.",
  arguments: [
    [
      "<file|->",
      "one prompt a line, JSON Lines (prompt, key, profile, model, output_schema) or CSV (a prompt column)",
    ],
  ],
  flags: {
    "Questions:": {
      "--template <text>": "make the prompts from the columns: 'Compare {{company}} with {{rival}}'",
      "--format <format>": defineChoice("what the input is (default: by its name, else by its first line)", [
        "txt",
        "jsonl",
        "csv",
      ]),
      "--schema <file|json>": "a JSON Schema for the results of rows that bring none",
      "--structured": "ask for structured output without a schema",
      ...flags.context,
      ...flags.domains,
      "--dry-run":
        "send nothing; say how many rows there are, how long they take, what the first ask and with which model",
      "-y, --yes": "do not ask before more than 20 rows are sent",
    },
    "Sending again:": {
      "--retry-failed": "send again what FAILED or was refused",
      "--retry-partial": "send again what FAILED with a part of a result",
      "--resend-unknown": "send unknown rows again; may create duplicates",
    },
    "Account:": flags.provider,
    "Waiting:": { ...flags.pace, ...flags.onDone, ...flags.notify },
    "Results:": {
      "--out <dir>": "the folder for the results, results.jsonl, and what is needed to go on",
      "--html": "keep index.html and a page for each row in the folder, too",
      ...flags.check,
    },
    "Limits:": {
      ...flags.quota,
      ...flags.perDay,
      "--max-failures <n>": defineValue(
        "send no more when so many rows have failed, were refused or are unknown",
        createWholeNumberParser(1),
      ),
    },
  },
  output:
    "request id TAB STATUS TAB key or line TAB file, as each row ends; --json: an object a line for each change, and a summary",
  exits: {
    0: "all COMPLETED; if not, the code of the row that ended worst",
    2: "bad input, or a row was refused",
    3: "a row FAILED",
    10: "a row was STOPPED",
    12: "the folder is taken, or cannot be written",
    ...listUsualExits(4, 5, 6, 7, 8, 9, 11, 14),
  },
  examples: [
    "research batch questions.txt --out answers --tier free",
    "research batch companies.csv --template 'What does {{company}} sell?' --out answers --dry-run",
    "research batch rows.jsonl --out answers --on-done 'echo $RESEARCH_REQUEST_ID'",
  ],
  run: async () => (await import("./run.js")).batch,
});
