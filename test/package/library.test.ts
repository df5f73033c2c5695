import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { requireBuild } from "../support/build.js";
import { folderWith } from "../support/folder.js";

requireBuild();

const root = join(import.meta.dirname, "../..");
const run = promisify(execFile);

/** A project that has this package installed, with one file. */
function project(name: string, text: string): string {
  const folder = folderWith();
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(root, join(folder, "node_modules/research-cli"));
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  writeFileSync(join(folder, name), text);
  return folder;
}

test("each type that an exported declaration uses is exported", () => {
  const types = join(root, "dist/types");
  const index = readFileSync(join(types, "index.d.ts"), "utf8");
  const names = (list = "") => Array.from(list.matchAll(/(?!type\b)\b\w+/g), ([name]) => name);
  const files = Array.from(index.matchAll(/(?:\{([^}]*)\}|\*) from "(.*?)\.js"/g), ([, list, file = ""]) => {
    const text = readFileSync(join(types, `${file}.d.ts`), "utf8").replace(/\/\*.*?\*\//gs, "");
    const all = Array.from(text.matchAll(/^export (?:interface|type) (\w+)/gm), ([, name = ""]) => name);
    return { exported: list === undefined ? all : names(list), text };
  });
  const exported = new Set(files.flatMap((file) => file.exported));
  const missing = files.flatMap((file) => {
    const imported = [...file.text.matchAll(/^import.*?\{(.*?)\} from "\./gm)].flatMap(([, list]) =>
      names(list),
    );
    const declarations = file.text.split(/^(?=export )/m);
    const nameOf = (text: string) => /^export (?:declare )?(?:\w+) (\w+)/.exec(text)?.[1] ?? "";
    const knownNames = [...imported, ...declarations.map(nameOf)].filter(
      (name) => name && !exported.has(name),
    );
    const open = declarations.filter((text) => file.exported.includes(nameOf(text)));
    return knownNames.filter((name) => open.some((text) => new RegExp(`\\b${name}\\b`).test(text)));
  });
  expect(exported).toContain("ResearchClient");
  expect(missing).toEqual([]);
});

test.each([
  ['new ResearchClient({ baseUrl: "x", apiKey: "k" })', /^BaseUrlError: invalid base URL: /m],
  ["await openResearch({ env }).submit('x')", /^ResearchError: no API key for http:\/\/127\.0\.0\.1:1$/m],
  [
    "await openResearch({ env }).watch('@last').next()",
    /^ResearchError: @last: no request is recorded on this machine$/m,
  ],
  [
    "await openResearch({ env: { ...env, RESEARCH_API_KEY: 'k' } }).batch(['x'], { out: 'uncaught.js' }).next()",
    /^ResearchError: the output folder uncaught\.js cannot be used: /m,
  ],
])("%s: uncaught, it shows its name and its sentence, and no screen of code", async (use, sentence) => {
  const text = `import { openResearch, ResearchClient } from "research-cli";
    const folders = { RESEARCH_CONFIG_DIR: import.meta.dirname, RESEARCH_STATE_DIR: import.meta.dirname };
    const env = { RESEARCH_BASE_URL: "http://127.0.0.1:1", ...folders };
    void [openResearch, ResearchClient, env]; ${use};`;
  const folder = project("uncaught.js", text);
  const { stderr } = await run(process.execPath, ["uncaught.js"], { cwd: folder }).catch((error) => error);
  expect(stderr).toMatch(sentence);
  expect(stderr.length).toBeLessThan(4_000);
});
