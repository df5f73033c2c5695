import { exactJson, memberText } from "../../../../json/exact-json.js";

const PLACE = /\{\{\s*([^{}]+?)\s*\}\}/g;

/** A prompt with places for columns: `Compare {{company}} with {{rival}}`. */
export class Template {
  readonly #text: string;
  /** The columns it names, each once. */
  readonly columns: readonly string[];

  constructor(text: string) {
    this.#text = text;
    this.columns = [...new Set(Array.from(text.matchAll(PLACE), ([, name = ""]) => name))];
  }

  /** The columns that `fields` does not have. */
  missingIn(fields: Readonly<Record<string, unknown>>): string[] {
    return this.columns.filter((name) => !Object.hasOwn(fields, name));
  }

  /** Text as it is, anything else as JSON. */
  fill(fields: Readonly<Record<string, unknown>>): string {
    return this.#text.replace(PLACE, (_all, name: string) => {
      const value = fields[name];
      return typeof value === "string" ? value : exactJson(memberText(fields, name));
    });
  }
}
