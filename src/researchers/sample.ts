type Schema = Record<string, unknown>;

/** For schemas that refer to themselves: below this depth objects have required members only, below four times it null. */
const MAX_DEPTH = 8;
/** The most values of a sample and characters of patterns together, since a short schema can describe billions. */
const MAX_STEPS = 50_000;
const MAX_TEXT = 10_000;
const FORMATS: Schema = {
  date: "2026-01-01",
  "date-time": "2026-01-01T12:00:00Z",
  email: "sample@example.org",
  time: "12:00:00Z",
  uri: "https://example.org/",
  uuid: "00000000-0000-4000-8000-000000000000",
};

/** A value for the usual keywords of a schema, which may not fit it; undefined if it would be too large. */
export function sampleOf(schema: Schema): unknown {
  try {
    return new Sample(schema).value(schema, 0, 0);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

class Sample {
  #left = MAX_STEPS;
  /** `root` has what references name. */
  constructor(private readonly root: Schema) {}

  /** A sample of the schema. Another `nth` gives another value where the schema allows one, for `uniqueItems`. */
  value(schema: Schema | undefined, depth: number, nth: number): unknown {
    this.#step();
    const { $ref, allOf, anyOf, oneOf = anyOf, ...own } = schema ?? {};
    if ("const" in own) return own.const;
    if (Array.isArray(own.enum)) return own.enum[nth % own.enum.length];
    if (depth > 4 * MAX_DEPTH) return null;
    const part = (one: unknown, which = nth) => this.value(one as Schema, depth + 1, which);
    const first = Array.isArray(oneOf) ? [oneOf[0]] : [];
    const target =
      typeof $ref === "string" ? [$ref.split("/").slice(1).reduce<unknown>(memberOf, this.root)] : [];
    const parts: Schema[] = [...target, ...first, ...(Array.isArray(allOf) ? allOf : [])];
    if (parts.length > 0) return part([own, ...parts].reduce(merged));
    const {
      properties,
      required = [],
      items,
      prefixItems = [],
    } = own as { properties?: Schema; required?: string[]; items?: Schema; prefixItems?: Schema[] };
    const number = (name: string, otherwise: number) => Number(own[name] ?? otherwise);
    const type = own.type ?? (properties ? "object" : items ? "array" : "string");
    switch (Array.isArray(type) ? type[0] : type) {
      case "object": {
        const names = [...(depth < MAX_DEPTH ? Object.keys(properties ?? {}) : []), ...required];
        return Object.fromEntries(names.map((name) => [name, part(memberOf(properties, name))]));
      }
      case "array": {
        const least = number("minItems", depth < MAX_DEPTH ? Math.max(prefixItems.length, 1) : 0);
        return Array.from({ length: Math.min(least, MAX_STEPS) }, (_, index) =>
          part(prefixItems[index] ?? items, own.uniqueItems === true ? index : nth),
        );
      }
      case "integer":
      case "number": {
        const step = number("multipleOf", 1);
        const least = Math.max(number("minimum", -Infinity), number("exclusiveMinimum", -Infinity) + step);
        const most = Math.min(number("maximum", Infinity), number("exclusiveMaximum", Infinity) - step);
        if (least > most && type === "number") return (least + most) / 2;
        return (Math.ceil(Math.max(least, Math.min(most, step)) / step) + nth) * step;
      }
      case "boolean":
        return nth % 2 === 0;
      case "null":
        return null;
    }
    const minLength = Math.min(number("minLength", 0), MAX_TEXT);
    this.#step(minLength / 100);
    if (typeof own.pattern === "string") return this.#matching(own.pattern, minLength);
    const text = String(FORMATS[String(own.format)] ?? `sample${nth || ""}`).padEnd(minLength, ".");
    return text.slice(0, number("maxLength", MAX_TEXT));
  }

  /** A text that the regular expression matches if it is of the usual kind: of alternatives the first, of a repetition few. */
  #matching(pattern: string, minLength: number): string {
    this.#step(pattern.length);
    const shortest = new Pattern(pattern, 0).text();
    const lack = minLength - shortest.length;
    if (lack <= 0) return shortest;
    const gain = new Pattern(pattern, 1).text().length - shortest.length;
    if (gain === 0) return shortest.padEnd(minLength, ".");
    return new Pattern(pattern, Math.ceil(lack / gain)).text();
  }

  #step(count = 1): void {
    this.#left -= count;
    if (this.#left < 0) throw new RangeError("the sample is too large");
  }
}

/** The first of these that a character class or an escape matches is taken for it. */
const CHARACTERS = ["a", "0", "A", ..." -_!\"#$%&'()*+,./123456789:;<=>?@[\\]^`{|}~bcdefgBCDEFG\u00e9"];
const GROUP = /^\((?:\?(?:(<?[=!])|:|<\w+>))?/;
/** An assertion of the place in the text, a class, an escape, or a character. */
const ATOM =
  /^(?:\[(?:\\.|[^\]\\])*\]|\\(?:u[\da-fA-F]{4}|u\{[\da-fA-F]+\}|x[\da-fA-F]{2}|[pP]\{[^}]*\}|.)|.)/su;
const REPETITION = /^(?:\{(\d+)(,(\d*))?\}|[*+?])\??/;

class Pattern {
  #at = 0;
  constructor(
    private readonly pattern: string,
    /** How often each repetition is taken beyond its minimum, up to its maximum. */
    private readonly more: number,
  ) {}

  /** A text for the pattern from here to the end of its group. */
  text(): string {
    let first: string | undefined;
    let text = "";
    while (this.#at < this.pattern.length && this.pattern[this.#at] !== ")") {
      if (this.#taken(/^\|/)) [first, text] = [first ?? text, ""];
      else text += this.#repeated(this.#atom());
    }
    return first ?? text;
  }

  #atom(): string {
    const group = this.#taken(GROUP);
    if (group) {
      const text = this.text();
      this.#at++;
      return group[1] ? "" : text;
    }
    const [atom] = this.#taken(ATOM) ?? [""];
    // An assertion, or what means nothing alone: a reference to a group, a control letter.
    if (/^(?:[\^$]|\\[bBck1-9])$/.test(atom)) return "";
    const one = new RegExp(`^(?:${atom})$`, "u");
    return [...CHARACTERS, atom].find((character) => one.test(character)) ?? "";
  }

  #repeated(text: string): string {
    const repetition = this.#taken(REPETITION);
    if (!repetition) return text;
    const [mark, exactly, range, to] = repetition;
    const least = Number(exactly ?? (mark.startsWith("+") ? 1 : 0));
    const isEndless = exactly === undefined ? !mark.startsWith("?") : range !== undefined && to === "";
    const most = isEndless ? Infinity : Number(to ?? exactly ?? 1);
    return text.repeat(Math.min(least + this.more, most, MAX_TEXT / Math.max(text.length, 1)));
  }

  #taken(what: RegExp): RegExpExecArray | undefined {
    const found = what.exec(this.pattern.slice(this.#at)) ?? undefined;
    this.#at += found?.[0].length ?? 0;
    return found;
  }
}

/** What a step of a JSON pointer leads to. */
function memberOf(from: unknown, step: string): unknown {
  return (from as Schema | undefined)?.[step.replaceAll("~1", "/").replaceAll("~0", "~")];
}

function merged(one: Schema, other: Schema | undefined): Schema {
  const properties = { ...(one.properties as Schema), ...(other?.properties as Schema) };
  const required = [one.required ?? [], other?.required ?? []].flat();
  return { ...one, ...other, ...(Object.keys(properties).length > 0 && { properties }), required };
}
