import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { HelpDocument } from "../src/cli/help/document.js";
import { folderWith } from "./support/folder.js";
import { bash, type Running, research, start } from "./support/run.js";

const ROOT = join(import.meta.dirname, "..");
const README = readFileSync(join(ROOT, "README.md"), "utf8");
const blocks = (language: string) =>
  [...README.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, "gm"))].map(
    ([, code = ""]) => code,
  );

const key = "sk-of-the-readme";
let service: Running;
let env: Record<string, string>;
beforeAll(async () => {
  service = start(["serve", "--port", "0", "--sources", join(ROOT, "docs")], {
    env: { RESEARCH_SERVE_API_KEY: key },
  });
  const [baseUrl] = await service.waitFor(/http:\S+/);
  env = { RESEARCH_BASE_URL: baseUrl ?? "", RESEARCH_API_KEY: key };
});
afterAll(() => service.child.kill());

describe("every script of the README works as it stands:", () => {
  test.each(blocks("bash").map((script) => [script.split("\n")[0], script]))("%s", async (_name, script) => {
    const folder = folderWith();
    // `docs` and an executable named `research`, as somebody in this checkout has them after an install.
    const setUp = `ln -s "${ROOT}/docs" docs; mkdir bin; ln -s "${ROOT}/bin/research.js" bin/research; PATH="$PWD/bin:$PATH"; unset -f research\n`;
    const run = await bash(`set -eu\n${setUp}${script}`, { env, home: folder, timeoutMs: 60_000 });
    expect(run, run.stderr).toMatchObject({ code: 0 });
  });
});

test("the set-up commands come first, and there are scripts to run", () => {
  expect(README.indexOf("npm ci && node bin/research.js try")).toBeLessThan(
    README.indexOf("npm ci && npm test"),
  );
  expect(README.indexOf("npm ci && npm test")).toBeLessThan(200);
  expect(blocks("bash").length).toBeGreaterThanOrEqual(5);
});

test("it says how to install, how long the tests take, and first of all where a service comes from", () => {
  // npm 12 runs no script of a folder that is installed globally, so the build comes first.
  expect(README).toContain("`npm ci && npm install --global .`");
  expect(README).toContain("`npm install --global ./research-cli-0.1.0.tgz`");
  expect(README).toMatch(/tests and takes about \w+ minutes/);
  const inAnotherTerminal = README.indexOf("`research serve` in another terminal");
  expect(inAnotherTerminal).toBeGreaterThan(0);
  expect(inAnotherTerminal).toBeLessThan(README.indexOf("```sh\nresearch "));
  expect(inAnotherTerminal).toBeLessThan(README.indexOf("```bash\n"));
});

describe("the tables of the README are those of the help:", () => {
  const rows = (heading: string) => {
    const [, body = ""] = README.split(`| ${heading} |`);
    const [table = ""] = body.split("\n\n");
    return table.split("\n").slice(2);
  };
  const help = async () => JSON.parse((await research(["help", "--json"])).stdout) as HelpDocument;

  test("the commands", async () => {
    const { commands } = await help();
    const expected = commands
      .filter(({ group }) => group !== null)
      .map((command) => {
        const words = command.arguments.map(({ name, required, variadic }) => {
          const shown = `${name}${variadic ? "…" : ""}`.replaceAll("|", "\\|");
          return required ? `<${shown}>` : `[${shown}]`;
        });
        return `| \`${[command.name, ...words].join(" ")}\` | ${command.summary} |`;
      });
    expect(rows("command | what it does")).toEqual(expected);
  });

  test("the exit codes", async () => {
    const { exit_codes } = await help();
    const meanings = [...new Set(exit_codes.map(({ meaning }) => meaning))];
    const codesOf = (meaning: string) => exit_codes.filter((one) => one.meaning === meaning);
    expect(rows("exit | meaning")).toEqual(
      meanings.map((meaning) => {
        const codes = codesOf(meaning).map(({ code }) => code);
        return `| ${codes.join(", ")} | ${meaning} |`;
      }),
    );
  });
});
