import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { printCompletions } from "../../../src/cli/completion/complete.js";
import { systemClock } from "../../../src/cli/main.js";
import { requireBuild } from "../../support/build.js";
import { folderWith } from "../../support/folder.js";
import { historyLine } from "../../support/home.js";

export const ORIGIN = "https://research.example";
export const RUNNING = "aaaa1111-0000-4000-8000-000000000001";
export const DONE = "aaaa2222-0000-4000-8000-000000000002";
export const ELSEWHERE = "bbbb3333-0000-4000-8000-000000000003";
export const KEY = "sk-completion-sentinel-77";

export interface CompletionMachine {
  home: string;
  env: Record<string, string>;
  /** The files that completion reads. */
  history: string;
  settings: string;
}

/** A home with a profile and three requests. */
export function machine(): CompletionMachine {
  const home = folderWith();
  const file = (path: string, text: string) => {
    mkdirSync(join(home, path, ".."), { recursive: true });
    writeFileSync(join(home, path), text, { mode: 0o600 });
    return join(home, path);
  };
  const settings = file(
    "config/config.json",
    JSON.stringify({ profiles: { work: { "base-url": ORIGIN, "api-key": KEY, "api-key-origin": ORIGIN } } }),
  );
  const now = Date.now();
  const line = (requestId: string, origin: string, status: string, prompt: string, ageMs: number) =>
    historyLine({ requestId, origin, status, prompt, createdAt: now - ageMs });
  const history = file(
    "state/history.jsonl",
    [
      line(ELSEWHERE, "https://other.example", "PENDING", "of another origin", 3 * 3_600_000),
      line(DONE, ORIGIN, "COMPLETED", "Why is the $(touch X) sea `touch X` \"salt'y?", 2 * 3_600_000),
      line(RUNNING, ORIGIN, "PENDING", "How do tides form? $(touch X)", 60 * 60_000),
      "",
    ].join("\n"),
  );
  const env = {
    RESEARCH_CONFIG_DIR: join(home, "config"),
    RESEARCH_STATE_DIR: join(home, "state"),
    RESEARCH_BASE_URL: ORIGIN,
    PS1: "READY> ",
    PROMPT: "READY> ",
  };
  return { home, env, history, settings };
}

const TABLE = new URL("../../../dist/completion.json", import.meta.url);

/** What the program writes when a shell asks it to complete. */
export async function completed(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  table = TABLE,
): Promise<string> {
  if (table === TABLE) requireBuild();
  let written = "";
  const write = async (text: string | Uint8Array) => {
    written += String(text);
  };
  await printCompletions(
    args,
    { env, platform: process.platform, clock: systemClock, stdout: { write } },
    table,
  );
  return written;
}
