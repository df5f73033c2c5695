import type { Host, Sink } from "./host.js";
import { isLive } from "./style.js";

/** How a terminal that does not say its width is laid out for. */
const DEFAULT_COLUMNS = 80;

/** What a result is laid out for. */
export interface ReadingTerminal {
  columns: number;
  colour: boolean;
  hyperlinks: boolean;
}

/** What is known of a terminal. Unlike messages, a result does not follow FORCE_COLOR (contract §6). */
export function readingTerminal(
  { isTTY, stream }: Pick<Sink, "isTTY" | "stream">,
  env: Host["env"],
): ReadingTerminal {
  const isShown = isLive({ isTTY }, env);
  return {
    columns: stream?.columns || DEFAULT_COLUMNS,
    colour: isShown && !env.NO_COLOR,
    hyperlinks: isShown && takesHyperlinks(env),
  };
}

/** Terminals that show OSC 8 as a link. Others may print it; tmux and screen, which set TERM, may lose it. */
function takesHyperlinks(env: Host["env"]): boolean {
  const { TERM = "", TERM_PROGRAM = "", VTE_VERSION = "" } = env;
  if (/^(?:screen|tmux)/.test(TERM)) return false;
  return (
    /^(?:iTerm\.app|WezTerm|vscode|ghostty|rio|Hyper|Tabby)$/.test(TERM_PROGRAM) ||
    /^(?:xterm-kitty|xterm-ghostty|alacritty|foot|contour|wezterm)/.test(TERM) ||
    // VTE 0.50: the number is 100 times the minor version. Version 0.50.0 itself crashed on a link.
    Number(VTE_VERSION) > 5000 ||
    Boolean(env.WT_SESSION || env.KONSOLE_VERSION || env.DOMTERM)
  );
}
