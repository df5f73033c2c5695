import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "acorn";
import { expect, test } from "vitest";
import { folderWith } from "../support/folder.js";
import { NODE, PROGRAM, research } from "../support/run.js";

const { engines } = JSON.parse(readFileSync(join(PROGRAM, "../../package.json"), "utf8"));
const [, needed = "", major = "", minor = ""] = /^>=((\d+)\.(\d+))$/.exec(engines.node) ?? [];

/** The program on a Node that says it is of this version, and has nothing that this program loads. */
function on(version: string, args: string[], env: Record<string, string> = {}) {
  const folder = folderWith({
    "old.cjs": `Object.defineProperty(process.versions, "node", { value: "${version}" });
      require("node:module").prototype.require = () => { throw new Error("loaded more"); };`,
  });
  return research(args, { env: { ...env, NODE_OPTIONS: `--require=${join(folder, "old.cjs")}` } });
}

test("any Node.js can read the file that is started", () => {
  const text = readFileSync(PROGRAM, "utf8");
  expect(() => parse(text, { ecmaVersion: 5, sourceType: "script", allowHashBang: true })).not.toThrow();
  expect(JSON.parse(readFileSync(join(PROGRAM, "../package.json"), "utf8"))).toEqual({ type: "commonjs" });
});

test.each(["0.12.18", "8.17.0", "18.20.8", `${major}.${Number(minor) - 1}.0`])(
  "on Node.js %s it names what is there and what is needed, and loads nothing",
  async (version) => {
    const message = `research needs Node.js ${needed} or later; this is ${version} (${NODE})`;
    const hint = "Get it from https://nodejs.org/.";
    const run = await on(version, ["list"]);
    expect(run).toMatchObject({ code: 1, stdout: "", stderr: `error: ${message}\nhint: ${hint}\n` });
    const error = { code: "INTERNAL", message: message, exit_code: 1, hint };
    for (const asked of [on(version, ["--json", "list"]), on(version, [], { RESEARCH_OUTPUT: "json" })]) {
      const { code, stderr } = await asked;
      expect([code, JSON.parse(stderr)]).toEqual([1, { error }]);
    }
  },
);

test.each([`${needed}.0`, `${Number(major) + 1}.0.0`, "100.2.0"])(
  "on Node.js %s it goes on",
  async (version) => {
    expect((await on(version, ["--version"])).stderr).toContain("loaded more");
  },
);
