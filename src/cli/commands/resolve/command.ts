import type { Define } from "../definition.js";

export const resolve: Define = (program, perform) => {
  program
    .command("resolve")
    .summary("settle a create whose outcome is unknown")
    .description("Tell the history what became of a create whose answer was lost. Nothing is sent.")
    .argument("<local-id>", "the local id, as `research list` shows it")
    .option("--request-id <id>", "it exists, under this id")
    .option("--not-created", "it does not exist")
    .document({
      exits: { 0: "settled", 2: "bad input", 5: "no such unknown outcome", 12: "not recorded" },
      examples: ["research resolve local-3f2a --not-created"],
    })
    .action((id, options) => perform(async (ctx) => (await import("./run.js")).resolve(ctx, id, options)));
};
