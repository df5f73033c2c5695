import type { JsonSchema } from "../../../protocol/conversation.js";
import { misfits } from "../../schema.js";
import type { Reply } from "../extractive/messages.js";
import type { Corpus } from "../sources/corpus.js";
import { fill, type Wanted } from "./fill.js";
import { Lookup } from "./lookup.js";

/** How many of the things that are missing, or wrong, the reason names. */
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
  const wrong = await misfits(schema, output);
  if (wrong.length === 0) return { kind: "output", output };
  return failure(`What the sources say does not fit the schema: ${wrong.slice(0, NAMED).join("; ")}.`);
}

function failure(reason: string): Reply {
  return { kind: "failure", reason };
}
