import { defineCommand } from "../define-command.js";

export const doctor = defineCommand({
  name: "doctor",
  summary: "check this machine, the settings and the service",
  description:
    "Check this machine, the settings and the service, and say how to fix each problem. Nothing is changed.",
  flags: {
    "--offline": "skip checks that need the network",
  },
  output: "a line for each check; with --json, {ok, checks: [{id, status, message, fix, exit_code}]}",
  exits: {
    0: "no check failed",
    2: "no base URL, or an invalid base URL or proxy",
    4: "no key, a key for another origin, or a refused key",
    9: "DNS or TLS failed, or the service did not answer",
    12: "the settings or the history cannot be used",
  },
  examples: ["research doctor", "research doctor --offline", "research doctor --json"],
  run: async () => (await import("./run.js")).runDoctor,
});
