import type { JsonSchema } from "../../../protocol/conversation.js";
import { misfits } from "../../schema.js";
import { Evidence } from "./evidence.js";
import { fill, type Wanted } from "./fill.js";
import type { Library } from "./library.js";
import type { Reply } from "./protocol.js";

/** How many of the things that are missing, or wrong, the reason names. */
const NAMED = 3;

/** Fills `schema` with what the library says. What it does not say makes it a failure: nothing is invented. */
export async function extract(library: Library, prompt: string, schema: JsonSchema): Promise<Reply> {
  const missing: string[] = [];
  const evidence = new Evidence(library, prompt);
  const wanted: Wanted = { path: "", names: [], about: "" };
  const output = fill(schema, wanted, { evidence, root: schema, missing });
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
