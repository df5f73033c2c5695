/** A place of a text that names addresses: a link, a number in brackets, an address. Offsets in UTF-16 units. */
export interface Mark {
  start: number;
  end: number;
  /** The text that it shows, if that is part of the sentence. */
  text: { start: number; end: number } | undefined;
  /** Addresses of the web or `file:line`, as they stand there. */
  urls: string[];
  /** What stands for addresses that are listed elsewhere: a number or a name, in lower case. */
  labels: string[];
}

const LABEL = "[^\\[\\]\\s][^\\[\\]]{0,60}";
const TEXT = "(?:[^\\[\\]\\\\]|\\\\.|\\[[^\\[\\]]{0,200}\\]){0,500}";
/** Punctuation at its end belongs to the sentence, and so does a bracket that was opened before it. */
const ADDRESS = "[^\\s<>\"'`|\\\\]+";
const FILE_NAME = "(?:[\\w.@+-]+/)*[\\w.@+-]*\\.[A-Za-z]\\w{0,9}";
/** Outside of code marks only what is surely a file: `example.com:80` is none. */
const FILE_TYPES =
  "md|markdown|txt|rst|adoc|html?|pdf|docx|csv|tsv|json[lc]?|ya?ml|toml|ini|conf|cfg|env|log|xml|sql|ipynb|[cm]?[jt]sx?|py|rb|go|rs|java|kt|cs?|cpp|h|hpp|sh|php|swift";
const MARK = new RegExp(
  [
    "`(?<code>[^`\\n]+)`",
    "!\\[[^\\[\\]]{0,500}\\]\\([^()\\s]*\\)",
    `\\[(?<text>${TEXT})\\]\\(\\s*(?:<(?<angled>[^<>\\n]*)>|(?<target>[^\\s()<>]*(?:\\([^\\s()<>]*\\)[^\\s()<>]*){0,9}))(?:\\s+(?:"[^"\\n]*"|'[^'\\n]*'))?\\s*\\)`,
    "【(?<corner>\\d{1,4})[^【】]{0,200}】",
    `\\[\\^(?<note>${LABEL})\\]`,
    "\\\\?\\[(?:(?:[a-z]{2,8}:|cite|ref|refs|sources?|quellen?)[:.]?\\s?)?(?<numbers>\\d{1,3}(?:\\s?[,;–—-]\\s?\\d{1,3}){0,50})(?:[,:]\\s(?:pp?|S)\\.[^\\[\\]]{1,20})?\\\\?\\](?!\\()",
    `\\[(?<named>${TEXT})\\]\\[(?<label>${LABEL})\\]|\\[(?<short>${LABEL})\\](?:\\[\\])?`,
    `<(?<auto>https?://[^<>\\s]+)>|(?<bare>(?<![\\w@/.])(?:https?://|www\\.(?=\\w))${ADDRESS})`,
    `(?:\\bdoi:\\s*)?(?<![\\w/.])(?<doi>10\\.\\d{4,9}/${ADDRESS})|\\barxiv:\\s?(?<arxiv>\\d{4}\\.\\d{4,5})(?:v\\d+)?`,
    `(?<![\\w/.:@-])(?<file>(?:[\\w.@+-]+/)*[\\w@+-]*(?:\\.[\\w@+-]+)*\\.(?:${FILE_TYPES}):\\d{1,7})(?:-\\d+)?(?![\\w:])`,
  ].join("|"),
  "giu",
);
const FILE = new RegExp(
  `^(?:\\./)?(?<name>/?${FILE_NAME})(?::(?<line>\\d+)(?:-\\d+)?|#L(?<hash>\\d+)(?:-L?\\d+)?)?$`,
  "u",
);
/** The text of a link that only says that there is a source: a number, the name of a site, a word. */
const SOURCE_TEXT =
  /^[\s[\]()^]*(?:[a-z]?\d{1,3}|(?:https?:\/\/)?(?:[\w-]+\.)+[a-z]{2,}(?:\/\S*)?|sources?|links?|here|quellen?|hier|via|ref(?:erence)?)[\s[\]()]*$/i;
/** What follows a link that is no part of a sentence. */
const STANDS_ALONE = /^\s*(?:$|["“„«\p{Lu}\p{N}[(])/u;
/** A range of numbers in brackets has no more than these. */
const MOST_IN_RANGE = 50;

/** The marks of a text in their order; `listed`: by what the report names addresses. */
export function marksIn(text: string, listed: Pick<ReadonlySet<string>, "has"> = new Set()): Mark[] {
  return [...text.matchAll(MARK)].flatMap((match) => markOf(match, text, listed) ?? []);
}

function markOf(
  match: RegExpExecArray,
  whole: string,
  listed: Pick<ReadonlySet<string>, "has">,
): Mark | undefined {
  const start = match.index;
  const found = match.groups ?? {};
  const behind = whole.slice(start + match[0].length, start + match[0].length + 3);
  /** Where the text of a link stands, if it is part of the sentence: not in brackets, nor short and behind its end. */
  const shown = (words: string): Mark["text"] => {
    const isBehind =
      /[.!?]["”’)]?\s*$/.test(whole.slice(Math.max(0, start - 4), start)) && STANDS_ALONE.test(behind);
    const isAside =
      whole[start - 1] === "(" || behind.startsWith(")") || (isBehind && words.split(" ").length < 5);
    return isAside || SOURCE_TEXT.test(words)
      ? undefined
      : { start: start + 1, end: start + 1 + words.length };
  };
  const mark = (urls: string[], labels: string[] = [], text?: string): Mark => {
    const place = { start, end: start + match[0].length };
    return { ...place, text: text === undefined ? text : shown(text), urls, labels };
  };
  if (found.code !== undefined) {
    const file = found.code.trim();
    return FILE.exec(file)?.groups?.line === undefined ? undefined : mark([file]);
  }
  if (found.text !== undefined) return mark(addressIn(found.angled ?? found.target ?? ""), [], found.text);
  if (found.numbers !== undefined) return mark([], numbersIn(found.numbers));
  const linked = found.named ?? found.short;
  if (linked !== undefined) {
    const name = (found.label ?? linked).toLowerCase();
    // `[…]` and the like are no links.
    return found.label === undefined && !listed.has(name) ? undefined : mark([], [name], linked);
  }
  const note = found.corner ?? found.note;
  if (note !== undefined) return mark([], [note.toLowerCase()]);
  const plain = found.bare ?? found.doi;
  if (plain === undefined) {
    const address = found.auto ?? found.file ?? (found.arxiv && `https://arxiv.org/abs/${found.arxiv}`);
    return mark(address === undefined ? [] : [address]);
  }
  const kept = withoutTail(plain);
  const url = found.bare ? kept.replace(/^www\./i, "http://www.") : `https://doi.org/${kept}`;
  return { ...mark([url]), end: start + match[0].length - plain.length + kept.length };
}

/** An address of a link, if it is one of the web, of any other scheme, or of a file; of this page and of mail it is none. */
function addressIn(target: string): string[] {
  if (/^(?:#|mailto:|tel:)/i.test(target) || target === "") return [];
  if (/^[a-z][a-z\d+.-]*:/i.test(target) && !FILE.test(target)) return [target];
  if (target.startsWith("//")) return [`https:${target}`];
  const { name, line, hash = line } = FILE.exec(target)?.groups ?? {};
  return name === undefined ? [] : [hash === undefined ? name : `${name}:${hash}`];
}

/** `1, 3–5` as 1, 3, 4 and 5. */
function numbersIn(list: string): string[] {
  return list.split(/[,;]/).flatMap((part) => {
    const [from = 0, to = from] = part.split(/[–—-]/).map(Number);
    const count = Math.min(Math.max(0, to - from), MOST_IN_RANGE);
    return Array.from({ length: count + 1 }, (_, i) => String(from + i));
  });
}

function withoutTail(address: string): string {
  for (let kept = address; ; ) {
    const before = kept;
    kept = kept.replace(/[.,;:!?*_~\]}…]+$/, "");
    if (kept.endsWith(")") && kept.split(")").length > kept.split("(").length) kept = kept.slice(0, -1);
    if (kept === before) return kept;
  }
}
