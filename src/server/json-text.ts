import { exactJson, JsonText } from "../json/exact-json.js";

/** The JSON text of a value; that of a JsonText is its own, not read again. */
export function jsonOf(value: unknown): string {
  return value instanceof JsonText ? value.text : exactJson(value);
}

/** The JSON text of an object; undefined members are left out. */
export function jsonOfObject(members: Readonly<Record<string, unknown>>): string {
  let text = "";
  for (const [name, value] of Object.entries(members)) {
    if (value !== undefined) text += `${text === "" ? "" : ","}${JSON.stringify(name)}:${jsonOf(value)}`;
  }
  return `{${text}}`;
}
