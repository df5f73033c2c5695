import { helpPage } from "./help/help-pages.js";
import type { Host, ProcessEnding } from "./terminal/host.js";

export { systemClock } from "../clock.js";

/**
 * Runs one command line. Resolves to how the process should end; everything that is to be said has been handed
 * to the host's streams by then, and nothing keeps the process alive.
 */
export async function main(argv: readonly string[], host: Host): Promise<ProcessEnding> {
  // The cheapest questions get the cheapest answers: nothing else is loaded for them.
  if (argv.length === 1 && (argv[0] === "--version" || argv[0] === "-V"))
    return print(`${host.version}\n`, host);
  if (argv[0] === "__complete") {
    const { complete } = await import("./completion/complete.js");
    await complete(argv.slice(1), host, new URL("completion.json", import.meta.url));
    return { code: 0 };
  }
  const page = helpPage(argv, host.stdout);
  if (page !== undefined) return print(page, host);
  const { runCommand } = await import("./run-command.js");
  return runCommand(argv, host);
}

async function print(text: string, { stdout, stderr }: Host): Promise<ProcessEnding> {
  try {
    await stdout.write(text);
    return { code: 0 };
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "EPIPE") return { code: 0 };
    await stderr.write(`error: the result could not be written to stdout (${code})\n`).catch(() => {});
    return { code: 12 };
  }
}
