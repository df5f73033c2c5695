/** Frequent words by language (ISO 639-1), few of which two of them have in common. */
const FREQUENT: Readonly<Record<string, string>> = {
  en: "the of and to is that in for with be are as it this on by an or not which you was were has have had from at its their than",
  de: "der die das und ist nicht ein eine zu den von mit für auf dem des werden wird sich auch im kann als bei aus nach über zum zur sind war wurde wurden hat haben einer einem eines es sie",
  fr: "le les des et est une un que pour dans du qui sur pas par au avec sont il ce vous",
  es: "el los las y es una que por para con del se al como más su un no lo está son",
  it: "il di e che è per un una con non del della sono gli le si da nel alla come più",
  pt: "o os as e é uma um que para com do da não no na dos das se por mais ao",
  nl: "de het een en van is dat op te in voor met zijn niet aan door wordt ook als bij",
};
const LANGUAGES = Object.entries(FREQUENT).map(([name, list]) => ({ name, known: new Set(list.split(" ")) }));
const SCRIPTS: readonly [string, RegExp][] = [
  ["ja", /[\p{Script=Hiragana}\p{Script=Katakana}]/gu],
  ["zh", /\p{Script=Han}/gu],
  ["ko", /\p{Script=Hangul}/gu],
  ["ru", /\p{Script=Cyrillic}/gu],
  ["el", /\p{Script=Greek}/gu],
  ["ar", /\p{Script=Arabic}/gu],
  ["he", /\p{Script=Hebrew}/gu],
];
/** Fewer frequent words than this decide nothing. */
const LEAST = 2;
/** How much of a text is looked at, in characters. */
const SAMPLE = 20_000;

/** The language of a text, ISO 639-1; undefined if too little tells it, as in a list of names or in code. */
export function languageOf(whole: string): string | undefined {
  const text = whole.slice(0, SAMPLE);
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  const script = SCRIPTS.find(([, pattern]) => (text.match(pattern)?.length ?? 0) * 4 > letters);
  if (script !== undefined) return script[0];
  const all = text.toLowerCase().match(/\p{L}+/gu) ?? [];
  const countOf = (known: ReadonlySet<string>) => all.filter((word) => known.has(word)).length;
  const counts = LANGUAGES.map(({ name, known }) => ({ name, count: countOf(known) }));
  const [first, second] = counts.sort((a, b) => b.count - a.count);
  const isClear = first && first.count >= LEAST && first.count > 1.3 * (second?.count ?? 0);
  return isClear ? first.name : undefined;
}
