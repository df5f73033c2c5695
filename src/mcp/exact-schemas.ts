import { Transform, type TransformCallback } from "node:stream";
import { exactJson, parseExactAt, withSource } from "../json/exact-json.js";

const PATH = ["params", "arguments", "schema"] as const;

/**
 * Passes the messages of a client on, and keeps the text of each schema in them: the SDK reads JSON as JavaScript does,
 * which rounds numbers.
 */
export class ExactSchemas extends Transform {
  readonly #texts = new Map<unknown, string>();
  #pieces: Buffer[] = [];

  override _transform(chunk: Buffer, _encoding: string, done: TransformCallback): void {
    let from = 0;
    for (let end = chunk.indexOf(0x0a); end >= 0; end = chunk.indexOf(0x0a, from)) {
      this.#read(Buffer.concat([...this.#pieces, chunk.subarray(from, end)]));
      this.#pieces = [];
      from = end + 1;
    }
    this.#pieces.push(chunk.subarray(from));
    done(null, chunk);
  }

  /** The arguments of the call `id`, with a schema that remembers its text. Once for each call. */
  restore(id: unknown, given: Record<string, unknown> | undefined): Record<string, unknown> | undefined {
    const text = this.#texts.get(id);
    this.#texts.delete(id);
    if (text !== undefined) withSource(given?.schema, text);
    return given;
  }

  #read(line: Buffer): void {
    if (!line.includes('"schema"')) return;
    try {
      const message = parseExactAt(line.toString("utf8"), ...PATH) as { id?: unknown };
      const schema = PATH.reduce<unknown>((outer, name) => Object(outer)[name], message);
      if (typeof schema === "object" && schema !== null) this.#texts.set(message.id, exactJson(schema));
    } catch {
      // The SDK says what is wrong with it.
    }
  }
}
