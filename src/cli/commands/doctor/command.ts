import type { Define } from "../definition.js";

export const doctor: Define = (program, perform) => {
  program
    .command("doctor")
    .summary("check this machine, the settings and the service")
    .description(
      "Check this machine, the settings and the service, and say what fixes each thing that is not ok. Nothing is changed.",
    )
    .option("--offline", "skip checks that need the network")
    .option("--only <ids>", "only these checks, separated by commas")
    .option("--report", "print a block for a bug report, without key, prompt and host name")
    .document({
      output: "a line for each check; --json: {ok, checks: [{id, status, message, fix, exit_code}]}",
      exits: {
        0: "nothing fails",
        2: "no or an invalid base URL or proxy, or no such check",
        4: "no key, a key of another origin, a refused key",
        9: "DNS, TLS or no answer",
        12: "unusable settings or history",
      },
      examples: ["research doctor", "research doctor --offline", "research doctor --only dns,tls --json"],
    })
    .action((options) => perform(async (ctx) => (await import("./run.js")).doctor(ctx, options)));
};
