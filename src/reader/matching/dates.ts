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

/** For a pattern with `giu`. Named groups tell the forms apart; those of a second day or month begin with `o`. */
const FORMS = new RegExp(
  [
    `${BEFORE}(?<iy>${YEAR})(?<sign>[-/.])(?<im>0[1-9]|1[0-2])\\k<sign>(?<id>0[1-9]|[12]\\d|3[01])(?=T\\d|${BEHIND})`,
    `${BEFORE}(?<gd>${DAY})\\.\\s?(?<gm>0?[1-9]|1[0-2])\\.(?:\\s?(?<gy>${YEAR})${BEHIND}|(?=${TO}${DAY}\\.))`,
    `${BEFORE}(?<bd>0[1-9]|[12]\\d|3[01])\\.(?<bm>0[1-9]|1[0-2])\\.(?<by>\\d\\d)${BEHIND}`,
    `${BEFORE}(?<s1>\\d{1,2})(?<slash>[-/])(?<s2>\\d{1,2})\\k<slash>(?<sy>${YEAR}|(?<=/)\\d\\d)${BEHIND}`,
    `${BEFORE}(?:(?<od>${DAY})${NTH}${TO})?(?<dd>${DAY})${NTH}(?:\\s+|-)(?:of\\s+|de\\s+)?(?<dm>${MONTH})(?:(?:,?\\s+|-)(?:de\\s+)?(?<dy>${YEAR})(?![\\p{L}\\p{N}]))?`,
    `(?<![\\p{L}\\p{N}])(?<mm>${MONTH})\\s+(?<md>${DAY})${NTH}(?![\\p{L}\\p{N}])(?:${TO}(?<oe>${DAY})${NTH}(?=,?\\s+${YEAR}|\\s*[),;.]))?(?:,?\\s+(?<my>${YEAR})(?![\\p{L}\\p{N}]))?`,
    `(?:(?<!\\p{N})(?<cy>${YEAR})\\s?[年년]\\s?)?(?<![\\p{N}.,])(?<cm>1[0-2]|0?[1-9])\\s?[月월](?:\\s?(?<cd>${DAY})\\s?[日일])?`,
    `${BEFORE}(?:(?<zm>0[1-9]|1[0-2])/(?<zy>(?:19|20)\\d\\d)|(?<ny>${YEAR})-(?<nm>0[1-9]|1[0-2]))${BEHIND}`,
    `(?<![\\p{L}\\p{N}])(?:(?<om>${MONTH})${TO})?(?<ym>${MONTH}),?\\s+(?:de\\s+)?(?<yy>${YEAR})(?![\\p{L}\\p{N}])`,
  ].join("|"),
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
  return matchesIn(FORMS, text).flatMap((match): DateFound[] => {
    const { iy, im, id, gd, gm, gy, bd, bm, by, s1, s2, sy, od, dd, dm, dy } = match.groups ?? {};
    const { mm, md, oe, my, om, ym, yy, cy, cm, cd, zm, zy, ny = "", nm } = match.groups ?? {};
    const named = (name: string | undefined) => MONTHS.get((name ?? "").toLowerCase().replace(".", "")) ?? 0;
    const readings = [
      iy && dateOf(iy, Number(im), id),
      gd && dateOf(gy, Number(gm), gd),
      by && dateOf(inFull(by), Number(bm), bd),
      sy && dateOf(inFull(sy), Number(s1), s2),
      sy && dateOf(inFull(sy), Number(s2), s1),
      dm && dateOf(dy, named(dm), dd),
      mm && dateOf(my, named(mm), md),
      ym && dateOf(yy, named(ym), undefined),
      cm && dateOf(cy, Number(cm), cd),
      zm && dateOf(zy, Number(zm), undefined),
      // `2009-10` are two years.
      nm && Number(nm) <= Number(ny.slice(2)) && dateOf(ny, Number(nm), undefined),
    ].flatMap((date) => date || []);
    const others = [
      od && dateOf(dy, named(dm), od),
      oe && dateOf(my, named(mm), oe),
      om && dateOf(yy, named(om), undefined),
    ].flatMap((date) => date || []);
    const place = { start: match.index, end: match.index + match[0].length };
    return [others, readings].filter((each) => each.length > 0).map((each) => ({ ...place, readings: each }));
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

function dateOf(year: string | undefined, month: number, day: string | undefined): CalendarDate | undefined {
  if (month < 1 || month > 12 || Number(day ?? 1) > 31) return undefined;
  const number = (digits: string | undefined) => (digits === undefined ? undefined : Number(digits));
  return { year: number(year), month, day: number(day) };
}

/** Whether what `said` says of a date is what `other` says of it, too. */
export function sameDate(said: CalendarDate, other: CalendarDate): boolean {
  return (["year", "month", "day"] as const).every(
    (part) => said[part] === undefined || said[part] === other[part],
  );
}
