import { define } from "../definition.js";

export const doctor = define({
  name: "doctor",
  summary: "check this machine, the settings and the service",
  description:
    "Check this machine, the settings and the service, and say what fixes each thing that is not ok. Nothing is changed.",
  flags: {
    "--offline": "skip checks that need the network",
  },
  output: "a line for each check; --json: {ok, checks: [{id, status, message, fix, exit_code}]}",
  exits: {
    0: "nothing fails",
    2: "no or an invalid base URL or proxy",
    4: "no key, a key of another origin, a refused key",
    9: "DNS, TLS or no answer",
    12: "unusable settings or history",
  },
  examples: ["research doctor", "research doctor --offline", "research doctor --json"],
  run: async () => (await import("./run.js")).runDoctor,
});
