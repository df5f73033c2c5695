import { define } from "../definition.js";

export const resolve = define({
  name: "resolve",
  summary: "settle a create whose outcome is unknown",
  description: "Tell the history what became of a create whose answer was lost. Nothing is sent.",
  arguments: [["<local-id>", "the local id, as `research list` shows it"]],
  flags: { "--request-id <id>": "it exists, under this id", "--not-created": "it does not exist" },
  exits: { 0: "settled", 5: "not in the history", 6: "its outcome is known already", 12: "not recorded" },
  examples: ["research resolve local-3f2a --not-created"],
  run: async () => (await import("./run.js")).resolve,
});
