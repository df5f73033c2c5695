import { checkValue, problemText } from "../../../json-schema/check.js";
import type { JsonSchema } from "../../../protocol/conversation.js";
import { coverageOf, type Weights } from "../extractive/coverage.js";
import { readQuestion } from "../extractive/question.js";
import { ResearchFailure } from "../researcher.js";
import type { FolderSearch, Table } from "../sources/corpus.js";
import type { Passage } from "../sources/source.js";
import { words } from "../sources/words.js";
import { apart, overlap, propertyWords, ROLE_WORDS, rolesAsked, saysRole, unitOf, unitsIn } from "./names.js";
import { descriptionOf, MAX_DEPTH, propertiesOf, SchemaReader, tooLarge, type View } from "./schema.js";
import { type Statement, statementsIn } from "./statements.js";
import { agreed, cellFor, type Demand, type PlacedValue, rowsFor } from "./tables.js";
import { particular, valueAt } from "./values.js";

/** How many of the things that are missing the reason names. */
const NAMED = 3;
/** How much of a schema is searched with, in characters. */
const MAX_TOPIC = 2_000;
const TABLES = 40;
const PASSAGES = 60;
/** Which share of the question's words what a value belongs to has to have. */
const ABOUT = 0.7;
const LABEL_ABOUT = 0.8;
/** A contradiction from a place with less than this share of the best one's coverage is about something else. */
const CLOSE = 0.8;

/**
 * Fills `schema` with what the sources say outright: cells of tables, definitions, `key: value`, "default: X" beside
 * its name. What they do not say so makes it a ResearchFailure: nothing is guessed from sentences. `sources` are the
 * places of the values, as in `docs/a.md:12`.
 */
export async function extract(
  search: FolderSearch,
  prompt: string,
  schema: JsonSchema,
): Promise<{ output: unknown; sources: string[] }> {
  const topic = JSON.stringify(schema).slice(0, MAX_TOPIC);
  const tables = await search.tables(`${prompt} ${topic}`, TABLES);
  const subject = await search.weights(readQuestion(prompt.replace(ROLE_WORDS, " ")).terms);
  const filling = new Filling(search, prompt, new SchemaReader(schema), tables, subject);
  const output = await filling.fill(schema);
  if (output === undefined) {
    const what = filling.missing.slice(0, NAMED).join(", ") || "anything that the schema asks for";
    throw new ResearchFailure(
      `The sources do not say ${what} outright. Without a model only tables, definitions and "name: value" are read; --model reads sentences.`,
    );
  }
  const problem = await checkValue(schema, JSON.stringify(output));
  if (problem === undefined) return { output, sources: [...filling.places] };
  const why = problemText(problem, "the top level");
  throw new ResearchFailure(`What the sources say does not fit the schema: ${why}.`);
}

class Filling {
  /** Paths that had to be filled and could not be. */
  readonly missing: string[] = [];
  readonly places = new Set<string>();
  constructor(
    private readonly search: FolderSearch,
    private readonly prompt: string,
    private readonly reader: SchemaReader,
    /** The tables that speak of the prompt or of what the schema asks for. */
    private readonly tables: readonly Table[],
    /** What the prompt is about, without what a value has to be said to be. */
    private readonly subject: Weights,
  ) {}

  /**
   * A value for `schema`; undefined if the sources do not say it. `names` are that of its property and those around it,
   * outermost first.
   */
  async fill(schema: unknown, names: readonly string[] = []): Promise<unknown> {
    if (names.length > MAX_DEPTH) throw tooLarge();
    const views = this.reader.views(schema);
    for (const view of views) {
      const value = await this.#value(view, names);
      if (value !== undefined) return value;
    }
    return views.some(({ nullable }) => nullable) ? null : undefined;
  }

  async #value(view: View, names: readonly string[]): Promise<unknown> {
    if (view.type === "object") return this.#object(view.schema, names);
    if (view.type === "array") return this.#array(view.schema, names);
    if ("const" in view.schema) return view.schema.const;
    return this.#scalar(view, names);
  }

  async #object(schema: JsonSchema, names: readonly string[]): Promise<unknown> {
    const filled: [string, unknown][] = [];
    let isComplete = true;
    for (const { name, schema: part, required } of propertiesOf(schema)) {
      const path = [...names, name];
      const value = await this.fill(part, path);
      if (value !== undefined) filled.push([name, value]);
      else if (required) {
        isComplete = false;
        const shown = path.join(".");
        if (!this.missing.some((missed) => missed.startsWith(shown))) this.missing.push(shown);
      }
    }
    return isComplete && filled.length > 0 ? Object.fromEntries(filled) : undefined;
  }

  #array(schema: JsonSchema, names: readonly string[]): unknown {
    const most = typeof schema.maxItems === "number" ? schema.maxItems : Number.POSITIVE_INFINITY;
    const name = names.at(-1) ?? "";
    const topic = [...names, descriptionOf(schema), this.prompt].join(" ");
    for (const item of this.reader.views(schema.items ?? true)) {
      const isObject = item.type === "object";
      // A list of plain values is one column of a table.
      const row = isObject ? item.schema : { properties: { [name]: item.schema } };
      const rows = rowsFor(row, topic, this.tables, this.reader).slice(0, most);
      for (const { place } of rows) this.places.add(place);
      if (rows.length > 0) return rows.map(({ value }) => (isObject ? value : value[name]));
    }
    return undefined;
  }

  async #scalar(view: View, names: readonly string[]): Promise<unknown> {
    const name = names.at(-1) ?? "";
    const about = descriptionOf(view.schema);
    const roles = rolesAsked(this.prompt, name, about);
    const asked = [this.prompt, ...names.map(apart), about, name, ...roles].join(" ");
    const demand: Demand = {
      named: propertyWords(names.join(" ")),
      roles,
      units: unitsIn(`${apart(name)} ${about}`),
      known: new Set(words(asked)),
      isAbout: (label) => coverageOf(this.subject, new Set(label)) >= LABEL_ABOUT,
    };
    const query = `${this.prompt} ${apart(name)} ${about}`;
    const found = cellFor(view, demand, this.tables) ?? (await this.#stated(view, name, demand, query));
    if (found !== undefined) this.places.add(found.place);
    return found?.value;
  }

  /** What definitions and `key: value` lines say of the name, if they agree. */
  async #stated(view: View, name: string, demand: Demand, query: string): Promise<PlacedValue | undefined> {
    const hits = await this.search.search(query, PASSAGES);
    const found = hits.flatMap(({ passage }) =>
      statementsIn(passage).flatMap((statement) => {
        if (!fits(statement, passage, name, demand)) return [];
        const { text, isDefault } = statement;
        const isText = !isDefault && view.type === "string" && view.schema.enum === undefined;
        const value =
          valueAt(text, view, demand.units, `${passage.heading} ${passage.lines.join(" ")}`) ??
          (isText ? particular(text, view.schema) : undefined);
        const coverage = coverageIn(statement, passage, this.subject);
        const place = `${passage.id}:${passage.line}`;
        return value === undefined || coverage < ABOUT ? [] : [{ value, place, coverage }];
      }),
    );
    const best = Math.max(0, ...found.map(({ coverage }) => coverage));
    return agreed(found.filter(({ coverage }) => coverage >= CLOSE * best));
  }
}

/** A name without its type, its arguments or its placeholder: "port (integer)", "kill([signal])", "--size=n". */
function nameIn(label: string): string {
  return label.replace(/[([=<{].*/, "");
}

/** Whether a statement is of the name that is asked for and of nothing else, and says what is asked of it. */
function fits(
  { label, isDefault }: Statement,
  { heading }: Passage,
  name: string,
  { roles, known }: Demand,
): boolean {
  // The words of an identifier only in its parts.
  const own = words(nameIn(label)).filter((word) => !word.includes("_"));
  if (own.length === 0 || !own.every((word) => known.has(word))) return false;
  if (roles.length > 0) return (isDefault && roles.includes("default")) || saysRole(label, roles);
  const named = new Set([...propertyWords(name)].filter((word) => unitOf(word) === undefined));
  return !isDefault && overlap(named, new Set(words(`${label} ${heading}`))) === named.size;
}

/** Which share of the question a statement and what is above it speak of. */
function coverageIn({ label, sentence }: Statement, passage: Passage, subject: Weights): number {
  if (subject.size === 0) return 1;
  const { id, heading, lines } = passage;
  const around = { near: new Set(words(heading)), far: new Set(words([id, ...lines].join(" "))) };
  return coverageOf(subject, new Set(words(`${nameIn(label)} ${sentence}`)), around);
}
