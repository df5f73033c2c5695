import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..");
const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const PATH = join(root, "node_modules/.bin") + delimiter + process.env.PATH;

// The commands of `npm run check`. They run beside the other tests, which often leave a core idle.
test.each<string>(scripts.check.split(" && "))(
  "%s",
  async (command) => {
    const child = spawn(command, { cwd: root, env: { ...process.env, PATH }, shell: true });
    const [stdout, stderr, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, "close"),
    ]);
    expect(code, stdout + stderr).toBe(0);
  },
  600_000,
);
