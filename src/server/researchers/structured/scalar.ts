import { placeOf } from "../extractive/report.js";
import type { Window } from "../extractive/windows.js";
import { words } from "../sources/words.js";
import { type Candidate, candidatesIn, type Demand, decided } from "./candidates.js";
import { cellFor, labelledCell } from "./cells.js";
import { rolesAsked } from "./claims.js";
import { isFree } from "./literals.js";
import type { Lookup } from "./lookup.js";
import { apart, overlap, propertyWords } from "./schema/property-words.js";
import type { View } from "./schema/schema-view.js";
import { unitOf, unitsIn } from "./schema/units.js";
import type { Found, Wanted } from "./schema/wanted.js";

/** Names of properties that want text for people: a sentence of the sources is a value for them. */
export const TEXT =
  /^(?:answers?|summary|conclusion|overview|results?|reports?|explanation|findings?|text|response|description|reasons?|definition|details?|meaning|purpose|notes?|facts?)$/i;
export const SOURCES = /^(?:sources?|citations?|references?|files?|locations?)$/i;
export const QUOTES = /^(?:quotes?|quotations?|evidence|passages?|excerpts?)$/i;
/** A window with less of what is asked is about something else. */
const ABOUT = 0.7;
/** Nor may it have less than this share of what the best one has. */
const NEARLY = 0.8;
/** Windows with less than this share of the best one's score are not looked at. */
const CLOSE = 0.5;

/** One string, number or boolean that the sources give; undefined if they do not, or not clearly. */
export async function scalar(view: View, wanted: Wanted, lookup: Lookup): Promise<Found | undefined> {
  if ("const" in view.schema) return { value: view.schema.const, places: [] };
  const text = view.type === "string" && isFree(view) ? await textFor(wanted, lookup) : undefined;
  if (text !== undefined) return text;
  const tables = await lookup.tables();
  const cell =
    cellFor(view, wanted, tables) ?? labelledCell(await demandOf(view, wanted, lookup), wanted, tables);
  if (cell !== undefined || view.type === "boolean" || isFree(view) !== (view.type !== "string")) return cell;
  const found = await candidates(view, wanted, lookup);
  const best = decided(found, rolesOf(wanted, lookup.prompt).length === 0);
  return best && { value: best.value, places: [placeOf(best.window)] };
}

/** What a property for text, for sources or for quotes gets. */
async function textFor({ names }: Wanted, lookup: Lookup): Promise<Found | undefined> {
  const name = names.at(-1) ?? "";
  const { quotes } = await lookup.findings();
  const [answer] = quotes;
  if (answer === undefined) return undefined;
  const places = [placeOf(answer)];
  if (SOURCES.test(name)) return { value: placeOf(answer), places };
  if (QUOTES.test(name)) return { value: answer.quote.join("\n"), places };
  return TEXT.test(name) && answer.kind !== "code" ? { value: answer.text, places } : undefined;
}

/** Every value of the right type in the windows about the right thing, best first. */
export async function candidates(view: View, wanted: Wanted, lookup: Lookup): Promise<Candidate[]> {
  const demand = await demandOf(view, wanted, lookup);
  const ranked = await lookup.windows(wanted.names.at(-1) ?? "", wanted.about);
  const least = CLOSE * (ranked[0]?.score ?? 0);
  const about = Math.max(ABOUT, NEARLY * (ranked[0]?.coverage ?? 0));
  return ranked
    .filter((window) => window.score >= least && window.coverage >= about && window.kind !== "code")
    .filter((window) => speaksOf(window, wanted, lookup.prompt))
    .flatMap((window) => candidatesIn(window, demand));
}

export async function demandOf(view: View, wanted: Wanted, lookup: Lookup): Promise<Demand> {
  const name = wanted.names.at(-1) ?? "";
  const counted = new Set([...propertyWords(name)].filter((word) => unitOf(word) === undefined));
  const units = unitsIn(`${apart(name)} ${wanted.about}`);
  for (const word of propertyWords(name)) if (unitOf(word) !== undefined) counted.add(word);
  const roles = rolesOf(wanted, lookup.prompt);
  return { view, roles, units, counted, subject: await lookup.subject() };
}

/** What the value has to be said to be. An identifier that has "max" in its name asks for no maximum. */
function rolesOf({ names, about }: Wanted, prompt: string) {
  const name = names.at(-1) ?? "";
  const isIdentifier = prompt.includes(name) && /[_\p{Lu}]/u.test(name);
  const asked = `${prompt} ${about} ${isIdentifier ? "" : apart(name)}`;
  return rolesAsked(asked.replace(/[\p{L}\p{N}]+(?:_[\p{L}\p{N}]+)+/gu, " "));
}

/** Every word of the name is in the question, or in the window or its headings. */
function speaksOf({ terms, heading }: Window, { names }: Wanted, prompt: string): boolean {
  const named = [...propertyWords(names.at(-1) ?? "")].filter((word) => unitOf(word) === undefined);
  const said = new Set([...terms, ...words(`${heading} ${prompt}`)]);
  return overlap(new Set(named), said) === named.length;
}
