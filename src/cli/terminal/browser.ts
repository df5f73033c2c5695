import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import type { Host } from "./host.js";

/** A browser that runs for this long without an error, in milliseconds, shows the page. */
const STARTED_MS = 3_000;

/** What opens a file with the program that its user has chosen for it. */
const OPENERS: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

/**
 * Opens a file with a command of `BROWSER` (several are separated by colons, `%s` stands for the path), else with the
 * platform's opener. Returns whether one was started. Rejects with `signal.reason`.
 */
export async function openInBrowser(
  { env, platform, clock }: Pick<Host, "env" | "platform" | "clock">,
  path: string,
  signal: AbortSignal,
): Promise<boolean> {
  for (const command of commands(env.BROWSER, platform)) {
    const [program = "", ...words] = command.map((word) => word.replaceAll("%s", path));
    const args = command.some((word) => word.includes("%s")) ? words : [...words, path];
    const enough = new AbortController();
    const started = clock.sleep(STARTED_MS, AbortSignal.any([signal, enough.signal])).then(() => true);
    started.catch(() => {});
    try {
      if (await Promise.race([succeeds(program, args, withoutSecrets(env)), started])) return true;
    } finally {
      enough.abort();
    }
  }
  return false;
}

/** Commands to try, each as its words. No shell reads them, so nothing in a path is evaluated. */
export function commands(browser: string | undefined, platform: NodeJS.Platform): string[][] {
  const opener = [...(OPENERS[platform] ?? ["xdg-open"])];
  if (!browser?.trim()) return [opener];
  if (existsSync(browser)) return [[browser]];
  const chosen = platform === "win32" ? [browser] : browser.split(":");
  return chosen.filter((command) => command.trim() !== "").map((command) => command.trim().split(/\s+/));
}

/** Whether the program ends well; never settles while it runs. */
function succeeds(program: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<boolean> {
  return new Promise((resolve) => {
    // In a group of its own, a browser outlives the command and the Ctrl-C that ends it.
    const child = spawn(program, args, { stdio: "ignore", detached: true, env });
    child.once("error", () => resolve(false));
    child.once("exit", (code) => resolve(code === 0));
    child.unref();
  });
}

/** A browser needs neither the key of the service nor any other. */
function withoutSecrets(env: Host["env"]): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^(?:RESEARCH_|PG)/.test(name)));
}
