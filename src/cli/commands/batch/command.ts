import { Option } from "commander";
import type { Define } from "../definition.js";
import { onDoneFlag, paceFlags, quotaFlags, wholeNumber } from "../flags.js";

export const batch: Define = (program, perform) => {
  const command = program
    .command("batch")
    .summary("submit many questions at the pace of the hourly limit")
    .description(
      "Submit one question a row and keep every result. Creates go one at a time and within the hourly limit; " +
        "watching and fetching go on beside them. The same command again goes on where the last one ended, " +
        "however it ended: nothing is sent twice.",
    )
    .argument(
      "<file|->",
      "one prompt a line, JSON Lines (prompt, key, output_schema) or CSV (a prompt column)",
    )
    .option("--out <dir>", "the folder for the results, results.jsonl, and what is needed to go on")
    .option("--template <text>", "make the prompts from the columns: 'Compare {{company}} with {{rival}}'")
    .addOption(
      new Option(
        "--format <format>",
        "what the input is (default: by its name, else by its first line)",
      ).choices(["txt", "jsonl", "csv"]),
    )
    .option("--schema <file|json>", "a JSON Schema for the results of rows that bring none")
    .option("--structured", "ask for structured output without a schema")
    .option("--html", "keep index.html and a page for each row in the folder, too")
    .option(
      "--dry-run",
      "send nothing; say how many rows there are, how long they take and what the first ask",
    )
    .option("--retry-failed", "send again what FAILED or was refused")
    .option("--resend-unknown", "send unknown rows again; may create duplicates")
    .option("--shard <k/n>", "run part k of n, using 1/n of the hourly limit")
    .option(
      "--max-failures <n>",
      "send no more when so many rows have failed, were refused or are unknown",
      wholeNumber(1),
    );
  onDoneFlag(quotaFlags(paceFlags(command)))
    .document({
      output:
        "request id TAB STATUS TAB key or line TAB file, as each row ends; --json: an object a line for each change, and a summary",
      exits: {
        0: "all COMPLETED; else the worst of the rows",
        2: "bad input, or a row was refused",
        3: "a row FAILED",
        8: "not finished",
        10: "a row was STOPPED",
        11: "outcome unknown",
        12: "the folder is taken, or cannot be written",
      },
      examples: [
        "research batch questions.txt --out answers --tier free",
        "research batch companies.csv --template 'What does {{company}} sell?' --out answers --dry-run",
        "research batch rows.jsonl --out answers --on-done 'echo $RESEARCH_REQUEST_ID'",
      ],
    })
    .action((file, options) => perform(async (ctx) => (await import("./run.js")).batch(ctx, file, options)));
};
