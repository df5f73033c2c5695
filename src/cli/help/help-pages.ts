import type { Sink } from "../terminal/host.js";

/**
 * The help that `argv` asks for, as it was laid out when the program was built (build/help.js): to look it up takes
 * a tenth of the time. Undefined where it asks for something else, or where the width of a terminal counts.
 */
export function helpPage(argv: readonly string[], stdout: Sink): string | undefined {
  const flag = argv.at(-1);
  if ((flag !== "--help" && flag !== "-h") || stdout.isTTY) return undefined;
  try {
    // Importing the module would load every kind of stream along with it.
    const { readFileSync } = process.getBuiltinModule("node:fs");
    const pages = new Map<string, string>(
      JSON.parse(readFileSync(new URL("help.json", import.meta.url), "utf8")),
    );
    return pages.get(JSON.stringify(argv.slice(0, -1)));
  } catch {
    // Not built, as in a test that runs the sources: then it is laid out now.
    return undefined;
  }
}
