import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { seeded } from "../../bench/support/runs.js";
import { folderWith } from "./folder.js";
import { NODE, Running } from "./run.js";

const SCRIPT = `
const seeded = ${seeded};
import { writeFileSync, rmSync } from "node:fs";
import { acquireLock } from "./lock.js";
const [path, mode, seed] = process.argv.slice(2);
const random = seeded(Number(seed));
if (mode === "hold") {
  try {
    const release = await acquireLock(path);
    console.log("holds " + process.pid);
    process.stdin.on("end", () => { release(); console.log("released"); }).resume();
  } catch (error) {
    console.log(error.name + " " + error.message);
  }
} else {
  for (let round = 0; round < Number(mode); round++) {
    const release = await acquireLock(path, 60_000);
    // Only one process at a time may be here.
    writeFileSync(path + ".inside", "", { flag: "wx" });
    await new Promise((resolve) => setTimeout(resolve, random() * 3));
    rmSync(path + ".inside");
    if (random() < 0.3) process.kill(process.pid, "SIGKILL");
    release();
  }
}
`;

/** The lock as a program of its own: `node PATH LOCK hold`, or `node PATH LOCK ROUNDS SEED`, which often dies while it holds. */
export async function lockProgram(): Promise<string> {
  const folder = folderWith();
  const bundle = await rolldown({
    input: join(import.meta.dirname, "../../src/core/files/file-lock.ts"),
    platform: "node",
  });
  await bundle.write({ file: join(folder, "lock.js"), codeSplitting: false });
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  const program = join(folder, "program.mjs");
  writeFileSync(program, SCRIPT);
  return program;
}

/** Runs the program, behind `prefix` where one is given; its stdin stays open. */
export function startHolder(
  program: string,
  args: readonly string[],
  prefix: readonly string[] = [],
): Running {
  const [command = NODE, ...rest] = [...prefix, NODE, program, ...args];
  return new Running(command, rest, { openInput: true });
}
