import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { requireBuild } from "../../support/build.js";
import { research } from "../../support/in-process.js";
import { NODE, PROGRAM } from "../../support/run.js";
import { Screen } from "../../support/screen.js";
import { shellCommand } from "../../support/shell-command.js";
import { type CompletionMachine, completed, DONE, machine, ORIGIN, RUNNING } from "./machine.js";

requireBuild();

interface Shell {
  name: string;
  args: readonly string[];
  /** What shows that the shell reads keys. */
  prompt: RegExp;
  /** The line that loads the completion. */
  load: string;
}

const PROMPT = /READY>/;

const SHELLS: readonly Shell[] = [
  {
    name: "bash",
    args: ["--norc", "--noprofile", "-i"],
    prompt: PROMPT,
    load: "source <(research completion bash)",
  },
  // PROMPT_SP draws a mark and clears it before zsh reads keys; a line that is typed in between can be lost.
  {
    name: "zsh",
    args: ["-f", "-o", "NO_PROMPT_SP", "-i"],
    prompt: PROMPT,
    load: "source <(research completion zsh)",
  },
  {
    name: "fish",
    args: ["--no-config", "-i"],
    prompt: /[>#$] ?$/m,
    load: "research completion fish | source",
  },
];

/** The program, without a process for each Tab. */
const answer: typeof research = async (args, options) => {
  if (args[0] !== "__complete") return research(args, options);
  return { code: 0, signal: null, stdout: await completed(args.slice(1), options?.env ?? {}), stderr: "" };
};

async function shell({ name, args, prompt, load }: Shell): Promise<CompletionMachine & { screen: Screen }> {
  const here = machine();
  const PATH = `${await shellCommand(answer)}:${process.env.PATH}`;
  const env = { ...here.env, PATH };
  const screen = new Screen(name, args, { home: here.home, env, cols: 160, rows: 50 });
  await screen.waitFor(prompt);
  screen.type(`${load}; echo load""ed\r`);
  await screen.waitFor(/^loaded/m);
  screen.type("cd ~\r");
  return { ...here, screen };
}

/** Types a line and Tab, waits for `pattern`, and empties the line. */
async function tab(screen: Screen, typed: string, pattern: RegExp, tabs = "\t"): Promise<string> {
  screen.type(typed + tabs);
  await screen.waitFor(pattern);
  const text = screen.text();
  screen.type("\x15");
  return text;
}

for (const candidate of SHELLS) {
  const missing = spawnSync(candidate.name, ["--version"]).error !== undefined;
  describe.skipIf(missing)(`completion in ${candidate.name} (needs ${candidate.name})`, () => {
    // What is offered is tested in complete.test.ts: here are the words that shells take apart, each in its own way.
    test("words are handed over, what is offered takes their place, and nothing is evaluated", async () => {
      const { screen, home, history, settings } = await shell(candidate);
      await tab(screen, "research quota --tier=ent", /--tier=enterprise/);
      await tab(screen, "research status @la", /status @last/);
      writeFileSync(join(home, "question-of-today.txt"), "");
      mkdirSync(join(home, "sources-of-today"));
      await tab(screen, "research run --prompt-file quest", /--prompt-file question-of-today\.txt/);
      await tab(screen, "research run --prompt-file=quest", /--prompt-file=question-of-today\.txt/);
      await tab(screen, "research try --sources sour", /--sources sources-of-today/);
      // Each id of a list is shown with its state and prompt.
      const ids = new RegExp(`${DONE} [^]*${RUNNING} .*tides form`);
      const all = await tab(screen, "research output ", ids, "\t\t");
      expect(all).toMatch(/COMPLETED, 2h 0\dm ago: Why is the/);
      for (const typed of ["research run '$(touch X)' --time", 'research run "`touch X`" --time'])
        await tab(screen, typed, /--timeout/);
      for (const typed of ["research status $(touch X", "research run `touch X", "research $(touch X) "]) {
        screen.type(`${typed}\t`);
        screen.type("\x15");
      }
      screen.type("echo al''ive\r");
      await screen.waitFor(/^alive/m);
      expect(existsSync(join(home, "X"))).toBe(false);
      // A broken machine is met with silence.
      writeFileSync(history, "{broken\n\0\n[]\n");
      writeFileSync(settings, "{");
      screen.type("research show aaaa\t");
      const text = await tab(screen, "\x15research resol", /research resolve/);
      expect(text).not.toMatch(/error|SyntaxError|cannot/i);
      screen.kill();
    });
  });
}

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
  const { stdout, status } = spawnSync(NODE, [PROGRAM, "__complete", "zsh", "resolve", ""], {
    env: { ...process.env, ...env },
    encoding: "utf8",
  });
  expect({ status, stdout }).toEqual({
    status: 0,
    stdout: expect.stringMatching(/^local-3\tUNKNOWN.*lost\n$/),
  });
});
