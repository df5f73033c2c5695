import { checkValue, problemText } from "../../../json-schema/check.js";
import type { JsonSchema } from "../../../protocol/conversation.js";
import type { Reply } from "../extractive/messages.js";
import type { FolderSearch } from "../sources/folder-search.js";
import { fill } from "./fill.js";
import { Lookup } from "./lookup.js";
import type { Wanted } from "./schema/wanted.js";

/** How many of the things that are missing the reason names. */
const NAMED = 3;
/** How much of a schema is searched with, in characters. */
const MAX_TOPIC = 2_000;

/** Fills `schema` with what the sources say. What they do not say makes it a failure: nothing is invented. */
export async function extract(search: FolderSearch, prompt: string, schema: JsonSchema): Promise<Reply> {
  const missing: string[] = [];
  const lookup = new Lookup(search, prompt, JSON.stringify(schema).slice(0, MAX_TOPIC));
  const wanted: Wanted = { path: "", names: [], about: "" };
  const found = await fill(schema, wanted, { lookup, root: schema, missing });
  if (found === undefined) {
    const what =
      missing.length > 0 ? missing.slice(0, NAMED).join(", ") : "anything that the schema asks for";
    return failure(`The sources do not say ${what}.`);
  }
  const problem = await checkValue(schema, JSON.stringify(found.value));
  if (problem === undefined)
    return { kind: "output", output: found.value, sources: [...new Set(found.places)] };
  return failure(`What the sources say does not fit the schema: ${problemText(problem, "the top level")}.`);
}

function failure(reason: string): Reply {
  return { kind: "failure", reason };
}
