import { matchesIn } from "./tokens.js";

/** A day, a month of a year, or a day of a month. Parts that are not said are undefined. */
export interface CalendarDate {
  year: number | undefined;
  month: number;
  day: number | undefined;
}

const NAMES = [
  "jan january januar jänner janvier enero gennaio janeiro januari",
  "feb february februar février febrero febbraio fevereiro februari",
  "mar march märz mars marzo março maart",
  "apr april avril abril aprile",
  "may mai mayo maggio maio mei maj",
  "jun june juni juin junio giugno junho",
  "jul july juli juillet julio luglio julho",
  "aug august août agosto augustus augusti",
  "sep sept september septembre septiembre settembre setembro",
  "oct okt october oktober octobre octubre ottobre outubro",
  "nov november novembre noviembre novembro",
  "dec dez december dezember décembre diciembre dicembre dezembro",
];
const MONTHS = new Map(NAMES.flatMap((names, i) => names.split(" ").map((name) => [name, i + 1] as const)));
const MONTH = `(?:${[...MONTHS.keys()].sort((a, b) => b.length - a.length).join("|")})\\b\\.?`;
const YEAR = "(?:1\\d|20)\\d\\d";
const DAY = "(?:0?[1-9]|[12]\\d|3[01])";
const NTH = "(?:st|nd|rd|th|er|\\.?º|\\.)?";
const BEFORE = "(?<![\\p{L}\\p{N}.,/:-])";
const BEHIND = "(?![\\p{L}\\p{N}]|[./-]\\p{N})";
/** Between the beginning and the end of a span, or between two that share the rest of their date. */
const TO = "\\s*(?:[-–—/&]|(?:to|and|until|through|bis|und)\\s(?:zum\\s|dem\\s|the\\s)?)\\s*";

/** For a pattern with `giu`: year, month and day, and a second day or month before or behind them. */
const FORMS = [
  `${BEFORE}(?<y>${YEAR})(?<sign>[-/.])(?<m>0[1-9]|1[0-2])\\k<sign>(?<d>0[1-9]|[12]\\d|3[01])(?=T\\d|${BEHIND})`,
  `${BEFORE}(?<d>${DAY})\\.\\s?(?<m>0?[1-9]|1[0-2])\\.(?:\\s?(?<y>${YEAR})${BEHIND}|(?=${TO}${DAY}\\.))`,
  `${BEFORE}(?<d>0[1-9]|[12]\\d|3[01])\\.(?<m>0[1-9]|1[0-2])\\.(?<y>\\d\\d)${BEHIND}`,
  `${BEFORE}(?<m>\\d{1,2})(?<slash>[-/])(?<d>\\d{1,2})\\k<slash>(?<y>${YEAR}|(?<=/)\\d\\d)${BEHIND}`,
  `${BEFORE}(?:(?<day>${DAY})${NTH}${TO})?(?<d>${DAY})${NTH}(?:\\s+|-)(?:of\\s+|de\\s+)?(?<m>${MONTH})(?:(?:,?\\s+|-)(?:de\\s+)?(?<y>${YEAR})(?![\\p{L}\\p{N}]))?`,
  `(?<![\\p{L}\\p{N}])(?<m>${MONTH})\\s+(?<d>${DAY})${NTH}(?![\\p{L}\\p{N}])(?:${TO}(?<day>${DAY})${NTH}(?=,?\\s+${YEAR}|\\s*[),;.]))?(?:,?\\s+(?<y>${YEAR})(?![\\p{L}\\p{N}]))?`,
  `(?:(?<!\\p{N})(?<y>${YEAR})\\s?[年년]\\s?)?(?<![\\p{N}.,])(?<m>1[0-2]|0?[1-9])\\s?[月월](?:\\s?(?<d>${DAY})\\s?[日일])?`,
  `${BEFORE}(?<m>0[1-9]|1[0-2])/(?<y>(?:19|20)\\d\\d)${BEHIND}`,
  `${BEFORE}(?<y>${YEAR})-(?<m>0[1-9]|1[0-2])${BEHIND}`,
  `(?<![\\p{L}\\p{N}])(?:(?<month>${MONTH})${TO})?(?<m>${MONTH}),?\\s+(?:de\\s+)?(?<y>${YEAR})(?![\\p{L}\\p{N}])`,
];
const DATE = new RegExp(
  FORMS.map((form, i) => form.replace(/(\(\?|\\k)<(\w+)>/g, `$1<$2${i}>`)).join("|"),
  "giu",
);

/** A date in a text, with its place; `readings` are several where it can be read in two ways, as in 3/4/2010. */
export interface DateFound {
  start: number;
  end: number;
  readings: readonly CalendarDate[];
}

/** The dates of a text, in their order: `3–7 May 2010` are two. */
export function datesIn(text: string): DateFound[] {
  return matchesIn(DATE, text).flatMap((match): DateFound[] => {
    const groups = match.groups ?? {};
    const form = FORMS.findIndex((_, i) => groups[`m${i}`] !== undefined);
    const [y, m = "", d, day, month] = ["y", "m", "d", "day", "month"].map(
      (name) => groups[`${name}${form}`],
    );
    const isAmbiguous = groups[`slash${form}`] !== undefined;
    // `2009-10` are two years.
    const isSpan = match[0] === `${y}-${m}` && m > (y ?? "").slice(2);
    const others = [day && dateOf(y, m, day), month && dateOf(y, month, undefined)];
    const readings = isSpan ? [] : [dateOf(y, m, d), isAmbiguous && dateOf(y, d ?? "", m)];
    const place = { start: match.index, end: match.index + match[0].length };
    return [others, readings]
      .map((dates) => dates.flatMap((date) => date || []))
      .filter((dates) => dates.length > 0)
      .map((dates) => ({ ...place, readings: dates }));
  });
}

/** `text` with its dates blanked, every other character where it was; two may share their place. */
export function withoutDates(text: string, dates: readonly Pick<DateFound, "start" | "end">[]): string {
  let rest = "";
  for (const { start, end } of dates)
    if (start >= rest.length) rest += text.slice(rest.length, start) + " ".repeat(end - start);
  return rest + text.slice(rest.length);
}

/** The months that a text names. */
export function monthsIn(text: string): number[] {
  return matchesIn(NAMED, text).flatMap(([name]) => MONTHS.get(name.toLowerCase()) ?? []);
}
const NAMED = /(?<!\p{L})\p{Lu}\p{L}{2,9}(?!\p{L})/gu;

/** A year of which the century may be left out. */
export function inFull(year: string): string {
  return year.length > 2 ? year : `${Number(year) < 70 ? 20 : 19}${year}`;
}

function dateOf(year: string | undefined, named: string, day: string | undefined): CalendarDate | undefined {
  const month = MONTHS.get(named.toLowerCase().replace(".", "")) ?? Number(named);
  if (month < 1 || month > 12 || Number(day ?? 1) > 31) return undefined;
  const number = (digits: string | undefined) => (digits === undefined ? undefined : Number(digits));
  return { year: number(year && inFull(year)), month, day: number(day) };
}

/** Whether what `said` says of a date is what `other` says of it, too. */
export function sameDate(said: CalendarDate, other: CalendarDate): boolean {
  return (["year", "month", "day"] as const).every(
    (part) => said[part] === undefined || said[part] === other[part],
  );
}
