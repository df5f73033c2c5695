/** Match code in fences, code between backticks, and commands after a `$` at the beginning of a line. */
const FENCED = /```[\w-]*[ \t]*\n([\s\S]*?)```/g;
const SPAN = /(`+)([^`][\s\S]*?)\1(?!`)/g;
const PROMPT = /^[ \t]*\$[ \t]+(.+)$/gm;

/** Placeholders in documents: `<file>`, `{name}`, `$NAME`, `%f`, `YOUR_KEY`, `FILE`. */
const PLACEHOLDER =
  /<[\w .:|-]+>|\$?\{[\w .-]+\}|\$[A-Z_]+|%[a-z]\b|(?<![A-Za-z\d_])(?:(?:YOUR|MY)_[A-Z\d_]+|(?:[A-Z]+_)?(?:FILE|FILENAME|PATH|DIR|DIRECTORY|FOLDER|NAME|HOST|HOSTNAME|PORT|URL|USER|USERNAME|ID|KEY|TOKEN|VALUE|DATE|COMMAND|PATTERN|VERSION|BRANCH))(?![A-Za-z\d_])/g;

/** The most parts into which placeholders split a word, and the longest word that is compared with such parts, in characters. */
const MOST_PARTS = 4;
const LONGEST_WORD = 200;

/** Lists the pieces of code in a model's text. Each line of a code block or shell transcript is a piece. */
export function listCode(text: string): string[] {
  const fenced = [...text.matchAll(FENCED)].flatMap(([, block = ""]) => block.split("\n"));
  const rest = text.replace(FENCED, "\n");
  const spans = [...rest.matchAll(SPAN)].map(([, , span = ""]) => span);
  const lines = [...rest.replace(SPAN, "").matchAll(PROMPT)].map(([, line = ""]) => line);
  return [...fenced, ...spans, ...lines].map(normalizeWords).filter((code) => /[\p{L}\p{N}]/u.test(code));
}

/** Returns whether a text contains `code` word for word; a placeholder in the text matches any one word. */
export function hasCode(text: string, code: string): boolean {
  const [plain, sought] = [normalizeWords(text), normalizeWords(code)];
  const hasPart = (part: string) =>
    new RegExp(`(?<![\\p{L}\\p{N}_])${escapePattern(part)}(?![\\p{L}\\p{N}_])`, "u").test(plain);
  if (hasPart(sought)) return true;
  // For a setting with a value, which the text may word differently, the name and the value must occur in the text.
  if (/^[\w.-]+=[\w.-]+$/.test(sought) && sought.split("=").every(hasPart)) return true;
  const words = sought.split(" ");
  const given = plain.replace(PLACEHOLDER, (placeholder) => placeholder.replaceAll(" ", "_")).split(" ");
  // The first word must not be a placeholder, because that would match any code.
  const isFixed = (word: string) => /\p{L}/u.test(word.replace(PLACEHOLDER, ""));
  return given.some(
    (first, at) => isFixed(first) && words.every((word, i) => isFilledIn(given[at + i] ?? "", word)),
  );
}

/** Returns whether `word` is `pattern` with its placeholders filled in. Ignores punctuation around the pattern. */
function isFilledIn(pattern: string, word: string): boolean {
  const bare = pattern.replace(/^["'(`]+|[`"'),.;:]+$/g, "");
  if (bare === word) return true;
  if (bare.search(PLACEHOLDER) < 0) return false;
  const fixed = bare.split(PLACEHOLDER).map(escapePattern);
  // More parts would take too long to match, and both texts come from outside.
  if (fixed.length > MOST_PARTS || word.length > LONGEST_WORD) return false;
  return new RegExp(`^${fixed.join("[^\\s;&|]+")}$`, "u").test(word);
}

/** Removes a shell prompt, reduces white space between words to one blank, and removes it around `=`. */
function normalizeWords(text: string): string {
  return text
    .replace(/\s+/g, " ")
    .replace(/ ?= ?/g, "=")
    .replace(/^\s*\$ /, "")
    .trim();
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}
