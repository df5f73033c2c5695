/** Words that say nothing of what a text is about. */
const STOP = new Set(
  (
    "a about after all also an and any are as at be been before but by can could did do does for from had has have " +
    "how i if in into is it its many me more most much my no not of on one or our out over please should so some " +
    "than that the their them then there these they this those to under up us was we were what when where which " +
    "while who whom whose why will with would you your happen happens tell explain describe show find give"
  ).split(" "),
);

const WORD = /[\p{L}\p{N}]+/gu;
const HAN = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;

/** The words of `text` that carry meaning, each reduced to its stem, in order and with repetition. */
export function words(text: string): string[] {
  return rawWords(text)
    .filter((word) => !STOP.has(word))
    .map(knownStem);
}

/** Most words of a corpus come again and again. */
const stems = new Map<string, string>();
const MOST_STEMS = 100_000;

function knownStem(word: string): string {
  const known = stems.get(word);
  if (known !== undefined) return known;
  if (stems.size >= MOST_STEMS) stems.clear();
  const found = stem(word);
  stems.set(word, found);
  return found;
}

/** Every word, lower case; camelCase and snake_case identifiers fall into their parts. */
function rawWords(text: string): string[] {
  const apart = text.replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, "$1 $2").toLowerCase();
  return (apart.match(WORD) ?? []).flatMap((word) => (HAN.test(word) ? pairs(word) : [word.slice(0, 64)]));
}

/** Scripts without spaces: each two neighbouring characters are a word. */
function pairs(word: string): string[] {
  const marks = [...word];
  return marks.length < 2 ? [word] : marks.slice(1).map((mark, i) => `${marks[i]}${mark}`);
}

/** One form for "limit", "limits", "limited", "hour", "hourly", "create", "creates", "creating", "stopped". */
export function stem(word: string): string {
  if (word.length < 4 || /\P{ASCII}|\d/u.test(word)) return word;
  let short = word
    .replace(/ies$/, "y")
    .replace(/(?<=[^suiay])s$|(?<=ay)s$/, "")
    .replace(/(?<=sse|xe|che|she)s$/, "");
  const cut = short.replace(/(?:ing|ed|ly|er)$/, "");
  if (cut.length >= 3 && /[aeiouy]/.test(cut)) short = cut.replace(/([^aeiouls])\1$/, "$1");
  return short.length > 3 ? short.replace(/e$/, "") : short;
}
