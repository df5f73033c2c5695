/** A JSON value as the text it came in, so that numbers, escapes and repeated names are passed on as they are. */
export class JsonText {
  constructor(readonly text: string) {}
}

/** The JSON text of a value; that of a JsonText is its own. Throws a RangeError for one nested too deep. */
export function jsonOf(value: unknown): string {
  return value instanceof JsonText ? value.text : (JSON.stringify(value) ?? "null");
}

/** The JSON text of an object whose members may be JsonText; undefined members are left out. */
export function jsonOfObject(members: Readonly<Record<string, unknown>>): string {
  const parts = Object.entries(members)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${JSON.stringify(name)}:${jsonOf(value)}`);
  return `{${parts.join(",")}}`;
}
