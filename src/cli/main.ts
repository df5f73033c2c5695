import type { Host, ProcessEnding, Sink } from "./terminal/host.js";

export { systemClock } from "../core/clock.js";

/** Runs one command line. Resolves to how the process should end; all output is written by then, and nothing keeps it alive. */
export async function main(argv: readonly string[], host: Host): Promise<ProcessEnding> {
  // Answer these without loading anything else.
  const isVersion = argv.length === 1 && (argv[0] === "--version" || argv[0] === "-V");
  const text = isVersion ? `${host.version}\n` : readHelpPage(argv, host.stdout);
  if (text !== undefined) {
    try {
      await host.stdout.write(text);
      return { code: 0 };
    } catch {
      // The failed write is repeated below, where its error is reported.
    }
  }
  if (argv[0] === "__complete") {
    const { printCompletions } = await import("./completion/complete.js");
    await printCompletions(argv.slice(1), host, new URL("completion.json", import.meta.url));
    return { code: 0 };
  }
  const { runCommand } = await import("./run-command.js");
  return runCommand(argv, host);
}

/** Returns the prebuilt help (build/help.js) for `argv`; undefined for other commands, and if the terminal's width matters. */
export function readHelpPage(argv: readonly string[], stdout: Sink): string | undefined {
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
    // Without a build, as in a test that runs the sources, the help is formatted now.
    return undefined;
  }
}
