import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { spawn as spawnPty } from "@lydell/node-pty";
import headless from "@xterm/headless";
import { CERTIFICATE, doubleOfExa } from "./double.js";

/**
 * A piece of a line in one look. `color` is one of the sixteen colours of a terminal, -1 for the default.
 * @typedef {{ text: string, color: number, bold: boolean, dim: boolean, italic: boolean, underline: boolean }} Run
 */

// The package is CommonJS, whose names only its default export has.
const { Terminal } = headless;
const ROOT = join(import.meta.dirname, "../..");
const PROGRAM = join(ROOT, "bin", "research.js");
const COMMANDS = [
  "research login --provider exa",
  'research run "Why are there two tides a day?"',
  "research show @last | grep cost",
  "research list",
];
const COLUMNS = 84;

/**
 * Runs the commands one after the other on a real terminal, with a double of Exa in place of Exa: what each shows at its
 * end, and the line while it waits.
 * @returns {Promise<{ command: string, waiting: Run[], lines: Run[][] }[]>}
 */
export async function record() {
  const home = mkdtempSync(join(tmpdir(), "research-demo-"));
  const bin = join(home, "bin");
  mkdirSync(bin);
  symlinkSync(PROGRAM, join(bin, "research"));
  writeFileSync(join(home, "certificate.pem"), CERTIFICATE);
  const exa = await doubleOfExa();
  const env = {
    ...{ PATH: `${bin}:${process.env.PATH}`, HOME: home, LANG: "C.UTF-8", TZ: "UTC" },
    ...{ HTTPS_PROXY: exa.proxy, NODE_EXTRA_CA_CERTS: join(home, "certificate.pem") },
  };
  try {
    const session = [];
    for (const command of COMMANDS)
      session.push({ command, ...(await onTerminal(command, { cwd: home, env })) });
    return session;
  } finally {
    exa.close();
    rmSync(home, { recursive: true, force: true });
  }
}

/**
 * @param {string} command
 * @param {{ cwd: string, env: Record<string, string> }} options
 * @returns {Promise<{ waiting: Run[], lines: Run[][] }>}
 */
async function onTerminal(command, { cwd, env }) {
  const terminal = new Terminal({ cols: COLUMNS, rows: 60, allowProposedApi: true });
  const pty = spawnPty("sh", ["-c", command], {
    ...{ cols: COLUMNS, rows: 60, cwd, name: "xterm-256color" },
    env: { ...env, TERM: "xterm-256color" },
  });
  /** @type {Run[]} */
  let waiting = [];
  pty.onData((text) => {
    if (/key.*: ?$/i.test(text)) pty.write("not-a-real-key\r");
    terminal.write(text, () => {
      const line = linesOf(terminal).find((runs) => /PROCESSING/.test(textOf(runs)));
      if (line) waiting = line;
    });
  });
  const code = await new Promise((resolve) => pty.onExit(({ exitCode }) => resolve(exitCode)));
  await new Promise((resolve) => terminal.write("", () => resolve(undefined)));
  if (code !== 0)
    throw new Error(`the command ended with ${code}:\n${linesOf(terminal).map(textOf).join("\n")}`);
  return { waiting, lines: withoutBlankEnds(linesOf(terminal)) };
}

/**
 * @param {import("@xterm/headless").Terminal} terminal
 * @returns {Run[][]}
 */
function linesOf(terminal) {
  const buffer = terminal.buffer.active;
  return Array.from({ length: buffer.length }, (_, y) => runsOf(buffer.getLine(y)));
}

/**
 * Joins the cells of a line that look the same.
 * @param {import("@xterm/headless").IBufferLine | undefined} line
 * @returns {Run[]}
 */
function runsOf(line) {
  /** @type {Run[]} */
  const runs = [];
  const length = line?.translateToString(true).length ?? 0;
  for (let x = 0; x < length; x++) {
    const cell = line?.getCell(x);
    if (!cell || cell.getWidth() === 0) continue;
    const look = {
      color: cell.isFgPalette() && cell.getFgColor() < 16 ? cell.getFgColor() : -1,
      bold: cell.isBold() !== 0,
      dim: cell.isDim() !== 0,
      italic: cell.isItalic() !== 0,
      underline: cell.isUnderline() !== 0,
    };
    const last = runs.at(-1);
    const text = cell.getChars() || " ";
    const { text: _, ...lastLook } = last ?? { text: "" };
    if (last && JSON.stringify(lastLook) === JSON.stringify(look)) last.text += text;
    else runs.push({ text, ...look });
  }
  return runs;
}

/** @param {readonly Run[]} runs */
export function textOf(runs) {
  return runs.map(({ text }) => text).join("");
}

/** @param {Run[][]} lines */
function withoutBlankEnds(lines) {
  const isBlank = (/** @type {Run[] | undefined} */ line) => line !== undefined && textOf(line).trim() === "";
  const kept = [...lines];
  while (isBlank(kept.at(-1))) kept.pop();
  while (isBlank(kept[0])) kept.shift();
  return kept;
}
