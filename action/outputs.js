import { randomBytes } from "node:crypto";
import { appendFileSync } from "node:fs";

/**
 * Adds outputs to the runner's file. A value stands between random delimiters, so that a value with line breaks
 * cannot set another output.
 * @param {string} path `$GITHUB_OUTPUT`
 * @param {Readonly<Record<string, string>>} outputs
 */
export function writeOutputs(path, outputs) {
  const text = Object.entries(outputs).map(([name, value]) => {
    const delimiter = `end-${randomBytes(16).toString("hex")}`;
    return `${name}<<${delimiter}\n${value}\n${delimiter}\n`;
  });
  appendFileSync(path, text.join(""));
}
