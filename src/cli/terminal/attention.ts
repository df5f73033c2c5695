import type { Host } from "./host.js";

type Environment = Host["env"];

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

/** Whether the terminal shows OSC 9;4 as progress, in its tab or the task bar. Others may take it for a notification. */
export function showsProgress(env: Environment): boolean {
  const { TERM = "", TERM_PROGRAM = "", TERM_PROGRAM_VERSION = "" } = env;
  if (isInMultiplexer(env)) return false;
  if (TERM_PROGRAM === "iTerm.app") return isAtLeast(TERM_PROGRAM_VERSION, [3, 6, 6]);
  return (
    Boolean(env.WT_SESSION) || /^(?:WezTerm|ghostty)$/.test(TERM_PROGRAM) || TERM.startsWith("xterm-ghostty")
  );
}

/** OSC 9;4: `share` in [0, 1], undefined for a wait of unknown length, "over" to take it away. */
export function progress(share: number | undefined | "over"): string {
  const state = share === "over" ? "0;0" : share === undefined ? "3;0" : `1;${Math.round(share * 100)}`;
  return `${ESCAPE}]9;4;${state}${END}`;
}

function isAtLeast(version: string, least: readonly number[]): boolean {
  const parts = version.split(".").map((part) => Number.parseInt(part, 10));
  const first = least.findIndex((wanted, index) => (parts[index] ?? 0) !== wanted);
  return first < 0 || (parts[first] ?? 0) > (least[first] ?? 0);
}

/** Tells a person who looks elsewhere that a wait is over, once, unless a signal of theirs ended it. */
export async function notify(
  { host, reporter, signal }: { host: Host; reporter: { json: boolean }; signal: AbortSignal },
  text: string,
): Promise<void> {
  if (!host.stderr.isTTY || reporter.json || signal.aborted) return;
  await host.stderr.write(notification(text, host.env)).catch(() => {});
}
