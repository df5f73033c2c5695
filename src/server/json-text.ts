import { exactJson, JsonText } from "../json/exact-json.js";

/** The JSON text of a value; that of a JsonText is its own, not read again. */
export function jsonOf(value: unknown): string {
  return value instanceof JsonText ? value.text : exactJson(value);
}

/** The JSON text of an object; undefined members are left out. */
export function jsonOfObject(members: Readonly<Record<string, unknown>>): string {
  const parts = Object.entries(members)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${JSON.stringify(name)}:${jsonOf(value)}`);
  return `{${parts.join(",")}}`;
}
