/** A unit as it stands beside a number: what it measures, and how many of the smallest unit of its kind it is. */
export interface Unit {
  kind: string;
  /** More than one where the sign is used for both: a KB is 1,000 bytes or 1,024. */
  factors: readonly number[];
}

const SECOND = 1_000;
const DAY = 86_400 * SECOND;
const YEAR = 365.25 * DAY;
const byte = (power: number) => (power === 0 ? [1] : [1_000 ** power, 1_024 ** power]);

/** By kind: the factor or factors of each unit, and how it is written. Signs in which case counts begin with `=`. */
const TABLE: Readonly<Record<string, readonly (readonly [number | readonly number[], string])[]>> = {
  percent: [
    [
      1,
      "% percent pct prozent por|ciento pour|cent per|cent vom|hundert percentage|points prozentpunkte prozentpunkten",
    ],
    [0.01, "bp bps basis|points basispunkte basispunkten"],
  ],
  // In milliseconds.
  time: [
    [1e-6, "ns nanosecond nanoseconds nanosekunde nanosekunden"],
    [1e-3, "µs us microsecond microseconds mikrosekunde mikrosekunden"],
    [1, "ms millisecond milliseconds millisekunde millisekunden milisegundo milisegundos"],
    [SECOND, "s sec secs second seconds sekunde sekunden segundo segundos seconde secondes"],
    [60 * SECOND, "min mins minute minutes minuten minuto minutos"],
    [3_600 * SECOND, "h hr hrs hour hours stunde stunden hora horas heure heures"],
    [DAY, "day days tag tage tagen día días jour jours"],
    [7 * DAY, "week weeks woche wochen semana semanas semaine semaines"],
    [YEAR / 12, "month months monat monate monaten mes meses mois"],
    [YEAR, "year years yr yrs jahr jahre jahren año años ans"],
  ],
  // In bytes; a kilobyte is often 1,024 of them.
  bytes: [
    [byte(0), "=B byte bytes"],
    [byte(1), "kb kilobyte kilobytes"],
    [byte(2), "=MB megabyte megabytes"],
    [byte(3), "=GB gigabyte gigabytes"],
    [byte(4), "=TB terabyte terabytes"],
    [byte(5), "=PB petabyte petabytes"],
    [1_024, "kib kibibyte kibibytes"],
    [1_024 ** 2, "mib mebibyte mebibytes"],
    [1_024 ** 3, "gib gibibyte gibibytes"],
    [1_024 ** 4, "tib tebibyte tebibytes"],
    [1 / 8, "bit bits"],
    [1e3 / 8, "kbit kilobit kilobits =kb"],
    [1e6 / 8, "mbit megabit megabits =Mb"],
    [1e9 / 8, "gbit gigabit gigabits =Gb"],
  ],
  // In metres.
  length: [
    [1e-9, "nm"],
    [1e-6, "µm"],
    [1e-3, "mm millimetre millimetres millimeter millimeters"],
    [1e-2, "cm centimetre centimetres centimeter centimeters"],
    [1, "m metre metres meter meters metern"],
    [1e3, "km kilometre kilometres kilometer kilometers kilometern"],
    [0.3048, "ft foot feet"],
    [1_609.344, "mile miles meile meilen"],
  ],
  // In grams.
  mass: [
    [1e-3, "mg"],
    [1, "=g gram grams gramm"],
    [1e3, "kg kilogram kilograms kilogramm"],
    [1e6, "=t tonne tonnes tonnen"],
    [453.592_37, "lb lbs pound|s pounds"],
  ],
  power: [
    [1, "=W watt watts"],
    [1e3, "=kW kilowatt kilowatts"],
    [1e6, "=MW megawatt megawatts"],
    [1e9, "=GW gigawatt gigawatts"],
  ],
  energy: [
    [1, "=Wh"],
    [1e3, "=kWh"],
    [1e6, "=MWh"],
    [1e9, "=GWh"],
    [1e12, "=TWh"],
  ],
  celsius: [[1, "°c"]],
  fahrenheit: [[1, "°f"]],
  // Each currency is a kind of its own beside `money`: none is converted.
  dollar: [[1, "$ usd dollar dollars us$ us-dollar us-dollars"]],
  euro: [[1, "€ eur euro euros"]],
  sterling: [[1, "£ gbp"]],
  yen: [[1, "¥ yen jpy 円"]],
  franc: [[1, "chf franken"]],
  cent: [[1, "cent cents ¢ pence"]],
};
/** What a place in an order or a multiple has in place of a unit: `2nd`, `3-fold`. */
export const ORDER: Unit = { kind: "order", factors: [1] };
const CURRENCIES = new Set(["dollar", "euro", "sterling", "yen", "franc", "cent"]);
const TEMPERATURES = new Set(["celsius", "fahrenheit"]);

const exact = new Map<string, Unit>();
const folded = new Map<string, Unit>();
for (const [kind, rows] of Object.entries(TABLE))
  for (const [factor, names] of rows) {
    const unit = { kind, factors: [factor].flat() };
    for (const name of names.split(" "))
      if (name.startsWith("=")) exact.set(name.slice(1), unit);
      else folded.set(name.replace("|", " "), unit);
  }

/** The unit that a word or sign names; undefined if it names none. */
export function unitNamed(word: string): Unit | undefined {
  return exact.get(word) ?? folded.get(word.toLowerCase().replace("μ", "µ").replace(/\s+/g, " "));
}

export function isMoney({ kind }: Unit): boolean {
  return CURRENCIES.has(kind);
}

/** Whether two units measure the same thing, so that a number with the one is never that number with the other. */
export function areComparable(a: Unit, b: Unit): boolean {
  const both = (set: ReadonlySet<string>) => set.has(a.kind) && set.has(b.kind);
  return a.kind === b.kind || both(CURRENCIES) || both(TEMPERATURES);
}

/** For a pattern with `iu`: a sign or word that may be a unit, right behind a number. The longest first. */
export const UNIT_BEHIND = [...exact.keys(), ...folded.keys()]
  .filter((name) => !/^(?:[$€£¥]|us\$)$/.test(name))
  .concat("[$€£¥]")
  .sort((a, b) => b.length - a.length)
  .join("|");
