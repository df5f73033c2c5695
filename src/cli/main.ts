import type { Ending, Host } from "./host.js";

export { systemClock } from "../clock.js";

/**
 * Runs one command line. Resolves to how the process should end; everything that is to be said has been handed
 * to the host's streams by then, and nothing keeps the process alive.
 */
export async function main(argv: readonly string[], host: Host): Promise<Ending> {
  // The cheapest question gets the cheapest answer: nothing else is loaded for it.
  if (argv.length === 1 && (argv[0] === "--version" || argv[0] === "-V")) return printVersion(host);
  const { perform } = await import("./perform.js");
  return perform(argv, host);
}

async function printVersion(host: Host): Promise<Ending> {
  try {
    await host.stdout.write(`${host.version}\n`);
    return { code: 0 };
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "EPIPE") return { code: 0 };
    await host.stderr.write(`error: the version could not be written to stdout (${code})\n`).catch(() => {});
    return { code: 12 };
  }
}
