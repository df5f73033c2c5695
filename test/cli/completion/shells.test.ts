import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { folderWith } from "../../support/folder.js";
import { historyLine } from "../../support/home.js";
import { NODE, PROGRAM } from "../../support/run.js";
import { Screen } from "../../support/screen.js";

const LONG = 20_000;
const ORIGIN = "https://research.example";
const RUNNING = "aaaa1111-0000-4000-8000-000000000001";
const DONE = "aaaa2222-0000-4000-8000-000000000002";
const ELSEWHERE = "bbbb3333-0000-4000-8000-000000000003";
const KEY = "sk-completion-sentinel-77";

interface Shell {
  name: string;
  args: readonly string[];
  /** The line that loads the completion. */
  load: string;
}

const SHELLS: readonly Shell[] = [
  { name: "bash", args: ["--norc", "--noprofile", "-i"], load: "source <(research completion bash)" },
  { name: "zsh", args: ["-f", "-i"], load: "unsetopt PROMPT_SP; source <(research completion zsh)" },
  { name: "fish", args: ["--no-config", "-i"], load: "research completion fish | source" },
];

/** A home with the program on its PATH, a profile and three requests. */
function machine(): { home: string; env: Record<string, string> } {
  const home = folderWith();
  const file = (path: string, text: string, mode = 0o600) => {
    mkdirSync(join(home, path, ".."), { recursive: true });
    writeFileSync(join(home, path), text, { mode });
  };
  file("bin/research", `#!/bin/sh\nexec "${NODE}" "${PROGRAM}" "$@"\n`, 0o755);
  file(
    "config/config.json",
    JSON.stringify({ profiles: { work: { "base-url": ORIGIN, "api-key": KEY, "api-key-origin": ORIGIN } } }),
  );
  const now = Date.now();
  const line = (requestId: string, origin: string, status: string, prompt: string, ageMs: number) =>
    historyLine({ requestId, origin, status, prompt, createdAt: now - ageMs });
  file(
    "state/history.jsonl",
    [
      line(ELSEWHERE, "https://other.example", "PENDING", "of another origin", 3 * 3_600_000),
      line(DONE, ORIGIN, "COMPLETED", "Why is the $(touch X) sea `touch X` \"salt'y?", 2 * 3_600_000),
      line(RUNNING, ORIGIN, "PENDING", "How do tides form? $(touch X)", 60 * 60_000),
      "",
    ].join("\n"),
  );
  const env = {
    PATH: `${join(home, "bin")}:${process.env.PATH}`,
    RESEARCH_CONFIG_DIR: join(home, "config"),
    RESEARCH_STATE_DIR: join(home, "state"),
    RESEARCH_BASE_URL: ORIGIN,
    PS1: "READY> ",
    PROMPT: "READY> ",
  };
  return { home, env };
}

async function shell(
  { name, args, load }: Shell,
  change: Record<string, string> = {},
  here = machine(),
): Promise<{ screen: Screen; home: string }> {
  const { home, env } = here;
  const screen = new Screen(name, args, { home, env: { ...env, ...change }, cols: 160, rows: 50 });
  await screen.waitFor(/READY>|[>#$] ?$/m, LONG);
  screen.type(`${load}; echo load""ed\r`);
  await screen.waitFor(/^loaded/m, LONG);
  return { screen, home };
}

/** Types a line and Tab, waits for `pattern`, and empties the line. */
async function tab(screen: Screen, typed: string, pattern: RegExp, tabs = "\t"): Promise<string> {
  screen.type(typed + tabs);
  await screen.waitFor(pattern, LONG);
  const text = screen.text();
  screen.type("\x15");
  return text;
}

for (const one of SHELLS) {
  const missing = spawnSync(one.name, ["--version"]).error !== undefined;
  describe.skipIf(missing)(`completion in ${one.name} (needs ${one.name})`, () => {
    test("commands, flags, choices and an id by the beginning of it", { timeout: 4 * LONG }, async () => {
      const { screen } = await shell(one);
      await tab(screen, "research resol", /research resolve/);
      await tab(screen, "research serve --metrics-o", /--metrics-open/);
      await tab(screen, "research quota --tier ent", /--tier enterprise/);
      await tab(screen, "research quota --tier=ent", /--tier=enterprise/);
      await tab(screen, "research config get base", /get base-url/);
      await tab(screen, "research --profile wo", /--profile work/);
      await tab(screen, "research status @la", /status @last/);
      await tab(screen, "research show aaaa1", new RegExp(`show ${RUNNING}`));
      await tab(screen, "research help exit", /help exit-codes/);
      screen.kill();
    });

    test("an id is chosen by its state and prompt; stop offers what runs only", {
      timeout: 4 * LONG,
    }, async () => {
      const { screen } = await shell(one);
      const all = await tab(
        screen,
        "research output ",
        new RegExp(`${DONE} [^]*${RUNNING} .*tides form`),
        "\t\t",
      );
      expect(all).toMatch(/COMPLETED, 2h 0\dm ago: Why is the/);
      expect(all.indexOf(DONE)).toBeLessThan(all.indexOf(RUNNING));
      expect(all).not.toContain(ELSEWHERE);
      expect(all).not.toContain(KEY);
      screen.kill();
      const again = await shell(one);
      const stoppable = await tab(
        again.screen,
        "research stop ",
        new RegExp(`${RUNNING} .*tides form`),
        "\t\t",
      );
      expect(stoppable).toContain(RUNNING);
      expect(stoppable).not.toContain(DONE);
      again.screen.kill();
    });

    test("nothing that is typed or recorded is evaluated", { timeout: 4 * LONG }, async () => {
      const { screen, home } = await shell(one);
      screen.type("cd ~\r");
      for (const typed of [
        "research run '$(touch X)' --time",
        'research run "`touch X`" --time',
        "research run \\$\\(touch X\\) --time",
      ])
        await tab(screen, typed, /--timeout/);
      for (const typed of ["research status $(touch X", "research run `touch X", "research $(touch X) "]) {
        screen.type(`${typed}\t\t`);
        screen.type("\x15");
      }
      await tab(screen, "research output ", /tides form/, "\t\t");
      screen.type("echo al''ive\r");
      await screen.waitFor(/^alive/m, LONG);
      expect(existsSync(join(home, "X"))).toBe(false);
      screen.kill();
    });

    test("files where a file is wanted", { timeout: 4 * LONG }, async () => {
      const { screen, home } = await shell(one);
      writeFileSync(join(home, "question-of-today.txt"), "");
      mkdirSync(join(home, "sources-of-today"));
      screen.type("cd ~\r");
      await tab(screen, "research run --prompt-file quest", /--prompt-file question-of-today\.txt/);
      await tab(screen, "research run --prompt-file=quest", /--prompt-file=question-of-today\.txt/);
      await tab(screen, "research try --sources sour", /--sources sources-of-today/);
      screen.kill();
    });

    test("a broken machine is met with silence", { timeout: 4 * LONG }, async () => {
      const here = machine();
      writeFileSync(join(here.home, "state/history.jsonl"), "{broken\n\0\n[]\n");
      writeFileSync(join(here.home, "config/config.json"), "{");
      const { screen } = await shell(one, { RESEARCH_BASE_URL: "nonsense" }, here);
      screen.type("research show aaaa\t\t");
      const text = await tab(screen, "\x15research resol", /research resolve/);
      expect(text).not.toMatch(/error|SyntaxError|cannot/i);
      screen.kill();
      const none = await shell(one, { RESEARCH_STATE_DIR: "/proc/1/none", RESEARCH_CONFIG_DIR: "relative" });
      none.screen.type("research stop \t\t");
      const other = await tab(none.screen, "\x15research resol", /research resolve/);
      expect(other).not.toMatch(/error|absolute|cannot/i);
      none.screen.kill();
    });
  });
}

test("the PowerShell script hands words over as arguments, and evaluates nothing", () => {
  const { stdout } = spawnSync(NODE, [PROGRAM, "completion", "powershell"], { encoding: "utf8" });
  expect(stdout).toContain("Register-ArgumentCompleter -Native -CommandName research");
  expect(stdout).toContain("__complete powershell $count @words");
  expect(stdout).not.toMatch(/Invoke-Expression|\biex\b|ExpandString|\[scriptblock\]::Create/i);
  const opened = stdout.match(/\{/g)?.length;
  expect(stdout.match(/\}/g)).toHaveLength(opened ?? 0);
  expect(stdout.match(/\(/g)).toHaveLength(stdout.match(/\)/g)?.length ?? 0);
});

test("a history that nobody may read is met with silence", () => {
  const { home, env } = machine();
  chmodSync(join(home, "state/history.jsonl"), 0o000);
  const { stdout, stderr, status } = spawnSync(NODE, [PROGRAM, "__complete", "zsh", "2", "show", ""], {
    env: { HOME: home, ...env },
    encoding: "utf8",
  });
  expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
  expect(readFileSync(join(home, "config/config.json"), "utf8")).toContain(KEY);
  expect(stdout).not.toContain(KEY);
});

test("what is no regular file among the unknown outcomes is passed over", () => {
  const { home, env } = machine();
  const open = join(home, "state/open");
  mkdirSync(open);
  execFileSync("mkfifo", [join(open, "local-1.json")]);
  mkdirSync(join(open, "local-2.json"));
  const intent = {
    kind: "intent",
    local_id: "local-3",
    prompt: "lost",
    sent_at: new Date().toISOString(),
    origin: ORIGIN,
  };
  writeFileSync(join(open, "local-3.json"), `${JSON.stringify(intent)}\n`);
  const { stdout, status } = spawnSync(NODE, [PROGRAM, "__complete", "zsh", "2", "resolve", ""], {
    env: { ...process.env, ...env },
    encoding: "utf8",
    timeout: LONG,
  });
  expect({ status, stdout }).toEqual({
    status: 0,
    stdout: expect.stringMatching(/^local-3\tUNKNOWN.*lost\n$/),
  });
});
