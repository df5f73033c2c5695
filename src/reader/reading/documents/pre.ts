import { spawn } from "node:child_process";
import { once } from "node:events";
import { MAX_FILE_BYTES } from "../files/read-file.js";

/** A program that makes text of a file, as `--pre` names it (contract §4). */
export interface PreCommand {
  /** The program and its arguments; one that is `{}` stands for the file. */
  words: readonly string[];
  env: NodeJS.ProcessEnv;
}

/** How much of what a program says on stderr is kept to find its last line in, in characters. */
const STDERR_TAIL = 2_000;

/**
 * What the program prints for the file at `path`, which stands at the end if no argument is `{}`. No shell reads it. What
 * it starts stays in the group of this process, and is ended with it. Throws a reason that names the program.
 */
export async function printedFor(path: string, { words, env }: PreCommand): Promise<Buffer> {
  const [command = "", ...args] = words.includes("{}")
    ? words.map((word) => (word === "{}" ? path : word))
    : [...words, path];
  const child = spawn(command, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  const pieces: Buffer[] = [];
  let size = 0;
  let said = "";
  child.stdout.on("data", (piece: Buffer) => {
    size += piece.length;
    if (size <= MAX_FILE_BYTES) pieces.push(piece);
    else child.stdout.destroy();
  });
  child.stderr.on("data", (piece: Buffer) => {
    said = (said + piece.toString("utf8")).slice(-STDERR_TAIL);
  });
  const [code, signal] = await once(child, "close").catch((error: NodeJS.ErrnoException) => {
    const why = error.code === "ENOENT" ? "does not exist" : `cannot be run: ${error.message}`;
    throw new Error(`the command ${command} ${why}`);
  });
  if (size > MAX_FILE_BYTES)
    throw new Error(`${command} printed more than ${MAX_FILE_BYTES / 1_048_576} MiB`);
  if (code === 0) return Buffer.concat(pieces, size);
  const reason = said.trimEnd().split("\n").at(-1)?.trim();
  const how = code === null ? `was ended by ${signal}` : `ended with exit code ${code}`;
  throw new Error(`${command} ${how}${reason ? `: ${reason}` : ""}`);
}
