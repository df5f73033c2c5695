import {
  buildAlternation,
  cacheByVocabulary,
  cutMatch,
  IN_WORD,
  listMatches,
  lowerCase,
  type Token,
} from "../languages/patterns.js";
import type { Vocabulary } from "../languages/vocabulary.js";

/** A day, a month of a year, or a day of a month. Parts that are not stated are undefined. */
export interface CalendarDate {
  year: number | undefined;
  month: number;
  day: number | undefined;
}

/** A date in a text, with its offsets. */
export interface DateInText extends Token {
  kind: "date";
  /** The possible dates; several if the date is ambiguous, such as 3/4/2010. Never empty. */
  readings: readonly CalendarDate[];
}

const YEAR = "(?:1\\d|20)\\d\\d";
const DAY = "(?:0?[1-9]|[12]\\d|3[01])";
const NTH = "(?:st|nd|rd|th|er|\\.?[ºª]|\\.)?";
const BEFORE = `(?<![.,/:${IN_WORD.slice(1, -1)}-])`;
const BEHIND = `(?!${IN_WORD}|[./-]\\d)`;

/** One pattern for all forms of a date in the languages of a vocabulary. The names of groups in the nth form end with n. */
const patterns = cacheByVocabulary((vocabulary) => {
  const listed = vocabulary.listOrdered("months").map(([word, place]) => [word, place + 1] as const);
  const months = new Map(listed.reverse());
  const month = `${buildAlternation(months.keys())}(?!${IN_WORD})\\.?`;
  const of = "(?:(?:of|de|di|del)\\s+)?";
  /** Matches what is between the two ends of a range, or between two dates that share a part. */
  const to = `\\s*(?:[-–—/&]|${buildAlternation([...vocabulary.list("to"), "until", "through"])}\\s(?:(?:zum|dem|the|le|el|al|il)\\s)?)\\s*`;
  const forms = [
    `${BEFORE}(?<a>\\d{4}|\\d{1,2})(?<sign>[-/.])\\s?(?<b>\\d{1,2})\\k<sign>(?:\\s?(?<c>${YEAR}|\\d\\d)${BEHIND}|(?=${to}\\d\\d?\\.))`,
    `${BEFORE}(?<m>0[1-9]|1[0-2])/(?<y>(?:19|20)\\d\\d)${BEHIND}`,
    `${BEFORE}(?<y>${YEAR})-(?<m>0[1-9]|1[0-2])${BEHIND}`,
    `${BEFORE}(?:(?<day>${DAY})${NTH}${to})?(?<d>${DAY})${NTH}(?:\\s+|-)${of}(?<m>${month})(?:(?:,?\\s+|-)${of}(?<y>${YEAR})(?!${IN_WORD}))?`,
    `(?<!${IN_WORD})(?<m>${month})\\s+(?<d>${DAY})${NTH}(?!${IN_WORD}|[.,]\\d{1,3}(?!\\d))(?:${to}(?<day>${DAY})${NTH}(?=,?\\s+${YEAR}|\\s*[),;.]))?(?:,?\\s+(?<y>${YEAR})(?!${IN_WORD}))?`,
    `(?:(?<!\\d)(?<y>${YEAR})\\s?[年년]\\s?)?(?<![\\d.,])(?<m>1[0-2]|0?[1-9])\\s?[月월](?:\\s?(?<d>${DAY})\\s?[日일])?`,
    `(?<!${IN_WORD})(?:(?<month>${month})${to})?(?<m>${month}),?\\s+${of}(?<y>${YEAR})(?!${IN_WORD})`,
  ];
  const pattern = forms.map((form, i) => form.replace(/(\(\?|\\k)<(\w+)>/g, `$1<$2${i}>`)).join("|");
  return { months, date: new RegExp(pattern, "g") };
});

/** The parts of a date as written. */
type Groups = Readonly<Record<string, string | undefined>>;

/** Finds the dates of a text, in order. A range such as `3–7 May 2010` is two dates. */
export function findDates(text: string, vocabulary: Vocabulary): DateInText[] {
  const { months, date } = patterns(vocabulary);
  const parseMonth = (name: string) => months.get(name.replace(".", "")) ?? Number(name);
  return listMatches(date, lowerCase(text)).flatMap((match): DateInText[] => {
    const parts = Object.entries(match.groups ?? {}).filter(([, part]) => part !== undefined);
    const groups: Groups = Object.fromEntries(parts.map(([name, part]) => [name.replace(/\d$/, ""), part]));
    const { a, y, m = "", d, day, month } = groups;
    const first = day || month ? buildValidDate(y, parseMonth(month ?? m), day) : [];
    // `2009-10` is a range of two years, not a month.
    const isSpan = match[0] === `${y}-${m}` && m > (y ?? "").slice(2);
    const readings =
      a !== undefined ? readNumericDate(groups) : isSpan ? [] : buildValidDate(y, parseMonth(m), d);
    return [first, readings].flatMap((dates) =>
      dates.length > 0 ? { kind: "date", ...cutMatch(match, text), readings: dates } : [],
    );
  });
}

/** Reads the dates that `2024-07-04` or `4.7.2024` may be; for `7/4/2024` there are two. */
function readNumericDate({ a = "", sign, b = "", c }: Groups): CalendarDate[] {
  const isShort = c?.length === 2;
  if (a.length === 4) return isShort ? buildValidDate(a, Number(b), c) : [];
  if (isShort && (sign === "-" || (sign === "." && (a + b).length < 4))) return [];
  return [...(sign === "." ? [] : buildValidDate(c, Number(a), b)), ...buildValidDate(c, Number(b), a)];
}

/** Returns a date; empty if there is no such day or month. */
function buildValidDate(year: string | undefined, month: number, day?: string): CalendarDate[] {
  if (!(month >= 1 && month <= 12) || Number(day ?? 1) > 31) return [];
  return [{ year: year ? Number(expandYear(year)) : undefined, month, day: day ? Number(day) : undefined }];
}

/** Replaces dates in `text` with blanks, so that all offsets stay. Dates may overlap. */
export function blankOutDates(text: string, dates: readonly Pick<Token, "start" | "end">[]): string {
  let rest = "";
  for (const { start, end } of dates)
    if (start >= rest.length) rest += text.slice(rest.length, start) + " ".repeat(end - start);
  return rest + text.slice(rest.length);
}

/** Finds the months that a text names. A name that is also a common word counts only with a capital letter. */
export function findMonths(text: string, vocabulary: Vocabulary): number[] {
  const { months } = patterns(vocabulary);
  return (text.match(WORD) ?? []).flatMap((name) => {
    const month = months.get(name.toLowerCase());
    return month !== undefined && (/^\p{Lu}/u.test(name) || !ENGLISH.test(name)) ? month : [];
  });
}
const WORD = /(?<!\p{L})\p{L}{3,10}(?!\p{L})/gu;
const ENGLISH = /^(?:mar|march|may|sept?|dec|august|jan|jun|oct)$/;

/** Adds the century to a year of two digits. */
export function expandYear(year: string): string {
  return year.length > 2 ? year : `${Number(year) < 70 ? 20 : 19}${year}`;
}
