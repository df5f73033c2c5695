import type { Define } from "../definition.js";
import { onDoneFlag, quotaFlags, requestFlags, resultFlags, watchFlags } from "../flags.js";

export const run: Define = (program, perform) => {
  const command = program
    .command("run")
    .summary("submit a question, wait, and print the result")
    .description("`create`, `watch` and `output` in one: stdout is the result.")
    .argument("[prompt]", "the question; - or nothing reads stdin");
  onDoneFlag(quotaFlags(resultFlags(watchFlags(requestFlags(command)))))
    .option("--wait-for-quota", "when the hourly limit is reached, wait instead of exiting with 7")
    .document({
      output: "the result; --json: the output's data on one line",
      exits: {
        0: "COMPLETED",
        2: "bad input",
        3: "FAILED",
        4: "key",
        7: "rate limited",
        8: "not finished",
        9: "unreachable, nothing was created",
        10: "STOPPED",
        11: "outcome unknown",
        12: "not written",
        13: "--strict",
      },
      examples: [
        'research run "How do tides form?" -o tides.md',
        "research run --prompt-file question.txt --timeout 2h",
      ],
    })
    .action((prompt, options) =>
      perform(async (ctx) => (await import("./run.js")).run(ctx, prompt, options)),
    );
};
