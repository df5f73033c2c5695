import { jsonSource, withSource } from "../json/exact-json.js";
import { replaceTokens } from "../json/format.js";
import type { Data } from "../protocol/conversation.js";
import { keyPattern } from "../protocol/key-pattern.js";
import type { Classification } from "./classify-response.js";

/** A shorter text is not hidden: hiding it would garble answers that merely contain it. */
const SHORTEST = 8;
const PLACEHOLDER = "[key]";

/** Takes the API key out of what came from a service, results too: a service or a proxy may quote the request. */
export class KeyRedactor {
  readonly #pattern: RegExp | undefined;

  constructor(apiKey: string) {
    this.#pattern = apiKey.length >= SHORTEST ? keyPattern(apiKey) : undefined;
  }

  /** Whether the key stands in `text`, as it is or encoded (see `keyPattern`). */
  isIn(text: string): boolean {
    return this.#pattern !== undefined && text.search(this.#pattern) >= 0;
  }

  /** `text` with a placeholder for the key. */
  redact(text: string): string {
    return this.#pattern ? text.replace(this.#pattern, PLACEHOLDER) : text;
  }

  /** A classification without the key, in its data or in its error; the same one if the key is not in it. */
  redactClassification(result: Classification): Classification {
    if (result.kind === "data") {
      const text = jsonSource(result.data);
      return this.isIn(text) ? { ...result, data: this.#redactData(text) } : result;
    }
    const { error } = result;
    const { message, code, hint } = error;
    Object.assign(error, {
      message: this.redact(message),
      code: this.redact(code),
      hint: hint && this.redact(hint),
    });
    return result;
  }

  /** Reads the JSON text of an object, each string and number in it redacted; the rest of the text is kept as it is. */
  #redactData(text: string): Data {
    const redacted = replaceTokens(text, (token) => {
      if (!this.isIn(token)) return token;
      return JSON.stringify(token.startsWith('"') ? this.redact(JSON.parse(token)) : PLACEHOLDER);
    });
    return withSource(JSON.parse(redacted), redacted);
  }
}
