import type { Terminal } from "./reporter.js";

/** Rings the terminal's bell and says in a line that the wait is over, unless a signal of its user ended it. `text` is ours. */
export async function notifyEnd({ host, reporter, signal }: Terminal, text: string): Promise<void> {
  if (!host.stderr.isTTY || reporter.json || signal.aborted) return;
  await host.stderr.write(`\u0007${text}\n`).catch(() => {});
}
