import type { Context } from "./context.js";

/** A word as a POSIX shell reads it back. */
export function shellWord(text: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** The command that goes on where this one ended, with the global flags that this one was given. */
export function resumeCommand(ctx: Context, ...words: readonly string[]): string {
  const { profile, baseUrl, insecureHttp } = ctx.flags;
  const flags = [
    ...(profile ? ["--profile", profile] : []),
    ...(baseUrl ? ["--base-url", baseUrl] : []),
    ...(insecureHttp ? ["--insecure-http"] : []),
  ];
  return ["research", ...words, ...flags].map(shellWord).join(" ");
}
