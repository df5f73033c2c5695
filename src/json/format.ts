import { forEachToken } from "./tokens.js";

/** The same JSON on one line: white space between tokens is dropped, every token is kept as it is. */
export function compactJson(text: string): string {
  const result = new Pieces();
  let from = 0;
  let to = 0;
  forEachToken(text, (start, end) => {
    if (start !== to) {
      result.add(text.slice(from, to));
      from = start;
    }
    to = end;
  });
  result.add(text.slice(from, to));
  return result.joined();
}

/** The same JSON laid out as `JSON.stringify` does it with `indent` blanks, every token kept as it is. */
export function indentJson(text: string, indent: number): string {
  const result = new Pieces();
  let depth = 0;
  let previous = "";
  forEachToken(text, (start, end) => {
    const token = text.slice(start, end);
    const closes = token === "}" || token === "]";
    const opened = previous === "{" || previous === "[";
    if (closes) depth--;
    // An empty object or array stays on its line.
    if (opened !== closes || previous === ",") result.add(`\n${" ".repeat(depth * indent)}`);
    result.add(token === ":" ? ": " : token);
    if (token === "{" || token === "[") depth++;
    previous = token;
  });
  return result.joined();
}

/** The same JSON on one line, each token replaced by what `replace` makes of it. */
export function replaceTokens(text: string, replace: (token: string) => string): string {
  const result = new Pieces();
  forEachToken(text, (start, end) => result.add(replace(text.slice(start, end))));
  return result.joined();
}

/** How deep the objects and arrays of a text nest, which need not be valid JSON; brackets in strings do not count. */
export function nestingDepth(text: string): number {
  let deepest = 0;
  let depth = 0;
  forEachToken(text, (start, end) => {
    if (end - start > 1) return;
    const token = text[start];
    if (token === "{" || token === "[") deepest = Math.max(deepest, ++depth);
    else if (token === "}" || token === "]") depth--;
  });
  return deepest;
}

/** A text in the making. Thousands of small pieces become one at a time: an array of millions would fill the memory. */
class Pieces {
  readonly #done: string[] = [];
  #recent: string[] = [];

  add(piece: string): void {
    if (this.#recent.push(piece) < 10_000) return;
    this.#done.push(this.#recent.join(""));
    this.#recent = [];
  }

  joined(): string {
    return this.#done.join("") + this.#recent.join("");
  }
}
