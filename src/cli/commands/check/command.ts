import { defineCommand, listUsualExitCodes } from "../define-command.js";
import { createWholeNumberParser, defineValue, parseDurationFlag } from "../flag-values.js";
import { flags } from "../shared-flags.js";

export const check = defineCommand({
  name: "check",
  summary: "check a report against the pages that it cites",
  description:
    "Read the pages that a report cites, and search them for the numbers, dates and quotations of each sentence. " +
    "A sentence may be false although its figures are on the page, and true although its figures are not. Read the page before you decide.",
  arguments: [
    ["<id|file|->", "an id, a unique prefix of an id in the history, @last, a file, or - for stdin"],
  ],
  flags: {
    "Pages:": {
      "--pages <n>": defineValue("read at most this many pages (default: 100)", createWholeNumberParser(1)),
      "--timeout <duration>": defineValue("stop reading after this long (default: 10m)", parseDurationFlag),
      "--domains <list>": "read only pages of these domains",
      "--not-domains <list>": "read no pages of these domains",
      "--sources <dir>": "look up citations of the form file:line in this folder",
      "--allow-private":
        "also read pages of hosts with a private address, if the report itself names the host",
      "--dry-run": "read no page; print each address that the report cites, and the sentences that cite it",
    },
    "Model:": {
      "--model <name>":
        "let this model judge whether the cited page supports each sentence (default: RESEARCH_MODEL_NAME); a judgement counts only with a quote from the page",
      ...flags.modelLimits,
    },
    "Result:": {
      "--save <dir>":
        "write the text of each page, and check.json, to this folder, which must be new or empty",
      "-o, --output <path>": "write the outcome to a file, completely or not at all; - is stdout",
      "--force": "overwrite an existing file",
      "--all": "on a terminal show every citation with its passage, not only those with a problem",
      "--html": "print the report as an HTML page with a mark at each citation",
    },
  },
  output:
    "in a pipe, a line for each citation: the verdict, the addresses, what is missing, the sentence, and the support if you use a model; " +
    "on a terminal, the citations with a problem and the counts; with --json, one object",
  exits: {
    0: "nothing is missing, gone or contradicted",
    4: "the model's endpoint requires a key",
    9: "no citation could be checked: no page could be read, or no reference such as [1] leads to an address",
    14: "a source is gone, or does not say what a sentence says, or contradicts the sentence",
    ...listUsualExitCodes(3, 5, 6, 7, 8, 10, 11),
  },
  examples: ["research check @last", "research check report.md --json"],
  run: async () => (await import("./run.js")).check,
});
