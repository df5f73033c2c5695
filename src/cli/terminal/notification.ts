import type { Terminal } from "./reporter.js";

/** Rings the terminal bell and prints `text` at the end of a wait, except after a signal. `text` must be our own, because it is not escaped. */
export async function notifyOfEnd({ host, reporter, signal }: Terminal, text: string): Promise<void> {
  if (!host.stderr.isTTY || reporter.json || signal.aborted) return;
  await host.stderr.write(`\u0007${text}\n`).catch(() => {});
}
