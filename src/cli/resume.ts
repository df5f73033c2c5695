import { shellWord } from "../text/phrases.js";
import type { Globals } from "./context.js";

/** The global flags that were given, for another command at the same service. */
export function globalWords({ profile, baseUrl, insecureHttp }: Globals): string[] {
  return [
    ...(profile ? ["--profile", profile] : []),
    ...(baseUrl ? ["--base-url", baseUrl] : []),
    ...(insecureHttp ? ["--insecure-http"] : []),
  ];
}

/** The command that goes on where this one ended, with the global flags that this one was given. */
export function resumeCommand(flags: Globals, ...words: readonly string[]): string {
  return ["research", ...words, ...globalWords(flags)].map(shellWord).join(" ");
}

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
