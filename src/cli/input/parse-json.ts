import { UsageError } from "../../app/errors.js";
import { parseExact } from "../../core/json/exact-json.js";

/** Parses JSON and keeps its text for `stringifyExact`. Throws UsageError with the line and column of a mistake. */
export async function parseJson(text: string, what: string): Promise<unknown> {
  try {
    return parseExact(text);
  } catch {
    throw new UsageError(`${what} is not JSON: ${await findJsonErrorPlace(text)}`);
  }
}

/** Returns the place of a mistake in JSON, such as `line 2, column 7: Comma expected`. V8's message lacks it in some versions, and quotes the text. */
export async function findJsonErrorPlace(text: string): Promise<string> {
  const { parse, printParseErrorCode } = await import("jsonc-parser");
  const errors: { error: number; offset: number; length: number }[] = [];
  parse(text, errors, { disallowComments: true, allowTrailingComma: false, allowEmptyContent: false });
  const first = errors[0];
  const before = text.slice(0, first?.offset ?? text.length);
  const line = before.split("\n").length;
  const column = before.length - before.lastIndexOf("\n");
  const reason = first ? printParseErrorCode(first.error) : "InvalidSymbol";
  return `line ${line}, column ${column}: ${reason.replace(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)}`;
}
