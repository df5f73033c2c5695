import { type Define, help } from "../definition.js";

export const show: Define = (program, perform) => {
  program
    .command("show")
    .summary("show what the history holds of a request")
    .description("Show everything the history of this machine holds of one request.")
    .argument("<id>", "an id, a local id, a unique prefix of one, or @last")
    .addHelpText(
      "after",
      help({ output: "a field a line; --json: one object", examples: ["research show @last"] }),
    )
    .action((id) => perform(async (ctx) => (await import("./run.js")).show(ctx, id)));
};
