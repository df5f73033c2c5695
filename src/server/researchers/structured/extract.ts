import { checkValue, problemText } from "../../../json-schema/check.js";
import type { JsonSchema } from "../../../protocol/conversation.js";
import type { Reply } from "../extractive/messages.js";
import type { Corpus } from "../sources/corpus.js";
import { fill } from "./fill.js";
import { Lookup } from "./lookup.js";
import type { Wanted } from "./wanted.js";

/** How many of the things that are missing the reason names. */
const NAMED = 3;

/** Fills `schema` with what the corpus says. What it does not say makes it a failure: nothing is invented. */
export async function extract(corpus: Corpus, prompt: string, schema: JsonSchema): Promise<Reply> {
  const missing: string[] = [];
  const lookup = new Lookup(corpus, prompt);
  const wanted: Wanted = { path: "", names: [], about: "" };
  const output = fill(schema, wanted, { lookup, root: schema, missing });
  if (output === undefined) {
    const what =
      missing.length > 0 ? missing.slice(0, NAMED).join(", ") : "anything that the schema asks for";
    return failure(`The sources do not say ${what}.`);
  }
  const problem = await checkValue(schema, JSON.stringify(output));
  if (problem === undefined) return { kind: "output", output };
  return failure(`What the sources say does not fit the schema: ${problemText(problem, "the top level")}.`);
}

function failure(reason: string): Reply {
  return { kind: "failure", reason };
}
