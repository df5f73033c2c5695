import type { Define } from "../definition.js";
import { quotaFlags, requestFlags, watchFlags } from "../flags.js";

export const create: Define = (program, perform) => {
  const command = program
    .command("create")
    .summary("submit a research question")
    .description("Submit a research question. The id is printed the moment it is known and safe on disk.")
    .argument("[prompt]", "the question; - or nothing reads stdin")
    .option("-w, --watch", "then go on as `watch`");
  quotaFlags(watchFlags(requestFlags(command)))
    .option("--wait-for-quota", "when the hourly limit is reached, wait instead of exiting with 7")
    .document({
      output: "the request id on a line; --json: the service's data on one line",
      exits: {
        0: "created",
        2: "bad input",
        4: "key",
        6: "refused",
        7: "rate limited",
        9: "unreachable",
        11: "outcome unknown",
        12: "not recorded",
      },
      examples: [
        'research create "How do tides form?"',
        'id=$(research create "How do tides form?")',
        "research create --schema schema.json < question.txt",
      ],
    })
    .action((prompt, options) =>
      perform(async (ctx) => (await import("./run.js")).create(ctx, prompt, options)),
    );
};
