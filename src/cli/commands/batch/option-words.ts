const DURATIONS: ReadonlySet<string> = new Set(["timeout", "queueTimeout", "interval", "patience"]);

/** The options of a command as the words it was given them in. */
export function wordsOf(options: object): string[] {
  return Object.entries(options).flatMap(([name, value]: [string, unknown]) => {
    const flag = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    if (value === undefined || value === false) return [];
    if (value === true) return [flag];
    if (Array.isArray(value)) return value.flatMap((one) => [flag, String(one)]);
    return [flag, DURATIONS.has(name) ? `${value}ms` : String(value)];
  });
}
