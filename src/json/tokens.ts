/**
 * Calls `visit` with the start and end of each token of a JSON text, in order; white space is not a token. A string
 * is one token with its quotes, so are numbers and literals. The text must be valid JSON (`JSON.parse` took it):
 * nothing is checked here. Linear in the length of the text, and no regular expression, whose backtracking
 * overflows on strings of several megabytes.
 */
export function forEachToken(text: string, visit: (start: number, end: number) => void): void {
  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at);
    if (isSpace(code)) {
      at++;
      continue;
    }
    const end = code === QUOTE ? endOfString(text, at) : isPunctuation(code) ? at + 1 : endOfScalar(text, at);
    visit(at, end);
    at = end;
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

function endOfString(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let before = quote;
    while (text.charCodeAt(before - 1) === BACKSLASH) before--;
    // An even number of backslashes escape each other, and the quote ends the string.
    if ((quote - before) % 2 === 0) return quote + 1;
  }
  return text.length;
}

function endOfScalar(text: string, start: number): number {
  let end = start;
  while (end < text.length && !isSpace(text.charCodeAt(end)) && !isPunctuation(text.charCodeAt(end))) end++;
  return end;
}

/** RFC 8259 §2: space, tab, line feed, carriage return. */
function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

/** RFC 8259 §2: `{ } [ ] : ,`. */
function isPunctuation(code: number): boolean {
  return code === 0x7b || code === 0x7d || code === 0x5b || code === 0x5d || code === 0x3a || code === 0x2c;
}
