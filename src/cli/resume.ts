import type { Globals } from "./context.js";

/** A word as a POSIX shell reads it back. */
export function shellWord(text: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

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
