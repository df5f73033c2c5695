import { define, listUsualExits } from "../definition.js";
import { createWholeNumberParser, defineValue, parseDurationFlag } from "../flag-values.js";
import { flags } from "../flags.js";

export const check = define({
  name: "check",
  summary: "read the pages that a report cites, and look in them for what it says",
  description:
    "Read the pages that a report cites and look in them for the numbers, dates and quotations of each sentence. " +
    "A sentence that is found need not be true, and one that is not found need not be false: read the page.",
  arguments: [["<id|file|->", "an id, a unique prefix of one made here, @last, a file, or - for stdin"]],
  flags: {
    "Pages:": {
      "--pages <n>": defineValue(
        "how many pages are read at most (default: 100)",
        createWholeNumberParser(1),
      ),
      "--timeout <duration>": defineValue("stop reading after this long (default: 10m)", parseDurationFlag),
      "--domains <list>": "read only pages of these domains",
      "--not-domains <list>": "read no pages of these domains",
      "--sources <dir>": "look up file:line in this folder",
      "--allow-private": "read pages on private addresses of hosts that the report names",
      "--dry-run": "ask for nothing; print the addresses that the report cites",
    },
    "Model:": {
      "--model <name>":
        "have a model (or RESEARCH_MODEL_NAME at RESEARCH_MODEL_URL) judge each sentence by its page; what it cannot prove does not count",
      ...flags.modelLimits,
    },
    "Result:": {
      "--save <dir>": "write the text of each page and check.json to this folder, new or empty",
      "-o, --output <path>": "write the outcome to a file, whole or not at all (-: stdout)",
      "--force": "overwrite an existing file",
      "--html": "give the report as an HTML page with a mark at each citation",
    },
  },
  output:
    "a line for each citation: verdict, addresses, what is missing, sentence, with a model support; on a terminal what is wrong, and the " +
    "counts; --json: one object",
  exits: {
    0: "nothing is missing, gone or contradicted",
    4: "the endpoint of the model wants a key",
    9: "not one citation could be checked: no page could be read, or no mark leads to a source",
    14: "a source is gone, contradicts what is said, or does not say it",
    ...listUsualExits(3, 5, 6, 7, 8, 10, 11),
  },
  examples: ["research check @last", "research check report.md --json"],
  run: async () => (await import("./run.js")).check,
});
