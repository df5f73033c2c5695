import type { JsonSchema } from "../../../protocol/conversation.js";
import type { Library } from "./library.js";
import type { Reply } from "./protocol.js";

/** Fills `schema` with what the library says. */
export async function extract(library: Library, prompt: string, schema: JsonSchema): Promise<Reply> {
  return {
    kind: "failure",
    reason: `Not filled: ${library.fileCount} ${prompt} ${Object.keys(schema).length}`,
  };
}
