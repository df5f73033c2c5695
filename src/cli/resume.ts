import type { Globals } from "./settings.js";

/** A word as a POSIX shell reads it back. */
export function shellWord(text: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** The command that goes on where this one ended, with the global flags that this one was given. */
export function resumeCommand(flags: Globals, ...words: readonly string[]): string {
  const { profile, baseUrl, insecureHttp } = flags;
  const global = [
    ...(profile ? ["--profile", profile] : []),
    ...(baseUrl ? ["--base-url", baseUrl] : []),
    ...(insecureHttp ? ["--insecure-http"] : []),
  ];
  return ["research", ...words, ...global].map(shellWord).join(" ");
}
