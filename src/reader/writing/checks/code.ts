/** What is between backticks, in a block or in a line; and a line that begins with `$`. */
const FENCED = /```[\w-]*[ \t]*\n([\s\S]*?)```/g;
const SPAN = /(`+)([^`][\s\S]*?)\1(?!`)/g;
const PROMPT = /^[ \t]*\$[ \t]+(.+)$/gm;

/** What a document leaves to its reader: `<file>`, `{name}`, `$NAME`, `%f`, `YOUR_KEY`, `FILE`. */
const PLACEHOLDER =
  /<[\w .:|-]+>|\$?\{[\w .-]+\}|\$[A-Z_]+|%[a-z]\b|(?<![A-Za-z\d_])(?:(?:YOUR|MY)_[A-Z\d_]+|(?:[A-Z]+_)?(?:FILE|FILENAME|PATH|DIR|DIRECTORY|FOLDER|NAME|HOST|HOSTNAME|PORT|URL|USER|USERNAME|ID|KEY|TOKEN|VALUE|DATE|COMMAND|PATTERN|VERSION|BRANCH))(?![A-Za-z\d_])/g;

/** Of a word with placeholders: the fixed parts, and the characters of what it is compared with. */
const MOST_PARTS = 4;
const LONGEST_WORD = 200;

/** Each piece of code in a text that a model wrote, a line of a block or of a shell being one. */
export function listCode(text: string): string[] {
  const fenced = [...text.matchAll(FENCED)].flatMap(([, block = ""]) => block.split("\n"));
  const rest = text.replace(FENCED, "\n");
  const spans = [...rest.matchAll(SPAN)].map(([, , span = ""]) => span);
  const lines = [...rest.replace(SPAN, "").matchAll(PROMPT)].map(([, line = ""]) => line);
  return [...fenced, ...spans, ...lines].map(normalizeWords).filter((code) => /[\p{L}\p{N}]/u.test(code));
}

/** Whether `code` stands in a text word for word; what the text has as a placeholder stands for any one word. */
export function hasCode(text: string, code: string): boolean {
  const [plain, sought] = [normalizeWords(text), normalizeWords(code)];
  const hasPart = (part: string) =>
    new RegExp(`(?<![\\p{L}\\p{N}_])${escapePattern(part)}(?![\\p{L}\\p{N}_])`, "u").test(plain);
  if (hasPart(sought)) return true;
  // A setting with its value, which the text words otherwise: both have to stand in it.
  if (/^[\w.-]+=[\w.-]+$/.test(sought) && sought.split("=").every(hasPart)) return true;
  const words = sought.split(" ");
  const given = plain.replace(PLACEHOLDER, (placeholder) => placeholder.replaceAll(" ", "_")).split(" ");
  // The first word is no placeholder: it would stand for any code.
  const isFixed = (word: string) => /\p{L}/u.test(word.replace(PLACEHOLDER, ""));
  return given.some(
    (first, at) => isFixed(first) && words.every((word, i) => isFilledIn(given[at + i] ?? "", word)),
  );
}

/** Whether `word` is `pattern`, with something in the place of each placeholder; marks around a pattern do not count. */
function isFilledIn(pattern: string, word: string): boolean {
  const bare = pattern.replace(/^["'(`]+|[`"'),.;:]+$/g, "");
  if (bare === word) return true;
  if (bare.search(PLACEHOLDER) < 0) return false;
  const fixed = bare.split(PLACEHOLDER).map(escapePattern);
  // More would take long to try: both come from outside.
  if (fixed.length > MOST_PARTS || word.length > LONGEST_WORD) return false;
  return new RegExp(`^${fixed.join("[^\\s;&|]+")}$`, "u").test(word);
}

/** Words with one space between them, none around `=`, without a shell's prompt. */
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
