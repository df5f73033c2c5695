import type { Terminal } from "./reporter.js";

/** Rings the terminal bell and prints that the wait is over, unless the user ended it with a signal. `text` must be our own. */
export async function notifyEnd({ host, reporter, signal }: Terminal, text: string): Promise<void> {
  if (!host.stderr.isTTY || reporter.json || signal.aborted) return;
  await host.stderr.write(`\u0007${text}\n`).catch(() => {});
}
