import type { Environment } from "../../core/files/local-error.js";
import type { Host } from "./host.js";

const ESCAPE = "\u001b";
const END = `${ESCAPE}\\`;

/** tmux and screen keep such sequences to themselves, or show them. */
function isInMultiplexer({ TMUX, STY, TERM = "" }: Environment): boolean {
  return Boolean(TMUX || STY) || /^(?:screen|tmux)/.test(TERM);
}

/** OSC 9 or 777 where the terminal is known to take it, else the bell. `text` is ours, without semicolons. */
export function notification(text: string, env: Environment): string {
  const { TERM = "", TERM_PROGRAM = "" } = env;
  if (isInMultiplexer(env)) return "\u0007";
  if (/^(?:iTerm\.app|WezTerm|ghostty)$/.test(TERM_PROGRAM) || /^xterm-(?:kitty|ghostty)/.test(TERM))
    return `${ESCAPE}]9;research: ${text}${END}`;
  if (/^(?:foot|rxvt-unicode)/.test(TERM)) return `${ESCAPE}]777;notify;research;${text}${END}`;
  return "\u0007";
}

/** Tells a person who looks elsewhere that a wait is over, once, unless a signal of theirs ended it. */
export async function notifyEnd(
  { host, reporter, signal }: { host: Host; reporter: { json: boolean }; signal: AbortSignal },
  text: string,
): Promise<void> {
  if (!host.stderr.isTTY || reporter.json || signal.aborted) return;
  await host.stderr.write(notification(text, host.env)).catch(() => {});
}
