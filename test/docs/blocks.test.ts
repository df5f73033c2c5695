import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { folderWith } from "../support/folder.js";
import { InProcess } from "../support/in-process.js";
import { bash, environment } from "../support/run.js";
import { shellCommand } from "../support/shell-command.js";
import { spoilingProxy } from "../support/spoiling-proxy.js";

const ROOT = join(import.meta.dirname, "../..");
const read = (name: string) => readFileSync(join(ROOT, name), "utf8");
const README = read("README.md");
const DOCS = readdirSync(join(ROOT, "docs")).filter((name) => name.endsWith(".md"));
const FILES = ["README.md", ...DOCS.map((name) => `docs/${name}`)];

const key = "sk-of-the-docs";
let service: InProcess;
let env: Record<string, string>;
/** A folder with a `research` that needs no process. */
let inProcess: string;
beforeAll(async () => {
  inProcess = await shellCommand();
  service = new InProcess(["serve", "--port", "0", "--sources", join(ROOT, "docs")], {
    env: environment(folderWith(), { RESEARCH_SERVE_API_KEY: key }),
  });
  const [baseUrl] = await service.waitFor(/http:\S+/);
  env = { RESEARCH_BASE_URL: baseUrl ?? "", RESEARCH_API_KEY: key };
});
afterAll(async () => {
  service.signal("SIGTERM");
  await service.done;
});

const missing = ["curl", "jq"].filter((program) => spawnSync(program, ["--version"]).error !== undefined);
/** The program that a script runs and this machine has not. */
const lacks = (script: string) =>
  missing.find((program) => new RegExp(`^(?:until |.*\\| )?${program} `, "m").test(script));

/** The blocks of one language, with the folder and the programs that a reader of this checkout has. */
const blocks = FILES.flatMap((file) =>
  Array.from(read(file).matchAll(/^```bash\n([\s\S]*?)^```/gm), ([, script = ""], index) => ({
    name: `${file} ${index + 1}: ${script.split("\n")[0]}${lacks(script) ? ` (needs ${lacks(script)})` : ""}`,
    script,
  })),
);

/** Here the built program runs: it is what the README is about, and the local service starts programs of its own. */
const BUILT = ["README.md", "docs/local-service.md"];

// The blocks of one file go on from each other, as for somebody who reads it from the top.
describe.each(FILES.filter((file) => blocks.some(({ name }) => name.startsWith(`${file} `))))(
  "%s",
  (file) => {
    const home = folderWith();
    const program = () => (BUILT.includes(file) ? `${ROOT}/bin/research.js` : `${inProcess}/research`);
    const setUp = () =>
      `mkdir -p bin; ln -sf "${ROOT}/docs" .; ln -sf "${program()}" bin/research; PATH="$PWD/bin:$PATH"; unset -f research\n`;
    for (const { name, script } of blocks.filter(({ name }) => name.startsWith(`${file} `)))
      test.skipIf(lacks(script) !== undefined)(name, async () => {
        const run = await bash(`set -eu\n${setUp()}${script}`, { env, home, timeoutMs: 60_000 });
        expect(run, run.stderr).toMatchObject({ code: 0 });
      });
  },
);

test("the nightly script asks nothing after 11 until it is settled, and goes on after 8 with what runs", async () => {
  const args = ["serve", "--port", "0", "--sources", join(ROOT, "docs"), "--processing", "6s"];
  const slow = new InProcess(args, { env: environment(folderWith(), { RESEARCH_SERVE_API_KEY: key }) });
  const [serviceUrl = ""] = await slow.waitFor(/http:\S+/);
  let connections = 0;
  const chooseSpoil = () => (++connections === 1 ? "error-page" : "pass");
  const proxy = await spoilingProxy(Number(new URL(serviceUrl).port), chooseSpoil);
  const [, nightly = ""] =
    /^```bash\n(#![^`]*^# nightly\.sh[^`]*)^```/m.exec(read("docs/pipelines.md")) ?? [];
  const home = folderWith({
    "nightly.sh": nightly,
    "question.txt": "How does stop work?",
    "reports/.keep": "",
  });
  const night = async (script: string) => {
    const set = `PATH="${inProcess}:$PATH"; night() { bash nightly.sh > mail || code=$?; }; code=0\n`;
    return bash(`${set}${script}\necho "$code $(research list | wc -l)"; cat mail`, {
      ...{ env: { RESEARCH_BASE_URL: proxy.url, RESEARCH_API_KEY: key }, home, timeoutMs: 60_000 },
    });
  };
  expect((await night("night")).stdout).toMatch(/^11 1\n\S+T\S+ .*research resolve/);
  expect((await night("night")).stdout).toMatch(/^11 1\n\S+T\S+ an outcome is not known/);
  const settle = 'research resolve "$(research list | cut -f 1)" --not-created; rm -f running.id';
  const impatient = "sed -i.full 's/--timeout 5h/--timeout 1ms/' nightly.sh; night";
  expect((await night(`${settle}; ${impatient}`)).stdout).toMatch(/8 1\n\S+T\S+ hint: .*research output -w/);
  // A night later what ran is delivered under the name of the night that asked, and a second run of a day asks for nothing.
  const on = (day: string) =>
    `mkdir -p bin; printf '#!/bin/sh\\nexec /bin/date -d ${day} "$@"\\n' > bin/date; chmod +x bin/date; PATH="$PWD/bin:$PATH"`;
  const asked = (await night("cat running.report")).stdout.split("\n")[0];
  expect(asked).toBe(`reports/${new Date().toISOString().slice(0, 10)}.md`);
  const late = `mv nightly.sh.full nightly.sh; ${on("2040-01-02")}; night; find reports -name '*.md'`;
  expect((await night(late)).stdout).toBe(`${asked}\n0 1\n`);
  for (const [day, requests] of [
    ["2040-01-02", 2],
    ["2040-01-02", 2],
    ["2040-01-03", 3],
    ["2040-01-03", 3],
  ]) {
    const again = await night(`${on(String(day))}; night; ls reports`);
    expect(again.stdout).toContain(`${day}.md\n0 ${requests}\n`);
    expect((await night("test ! -e running.id && echo gone")).stdout).toMatch(/^gone/);
  }
  await proxy.close();
  slow.signal("SIGTERM");
  await slow.done;
});

test("there are scripts to run in the README and in most of the docs", () => {
  const files = new Set(blocks.map(({ name }) => name.split(" ")[0]));
  expect([...files]).toEqual(expect.arrayContaining(["README.md", "docs/start.md", "docs/pipelines.md"]));
  expect(blocks.length).toBeGreaterThan(15);
});

test("the README: at most 110 lines, one sentence, then the two set-up commands within 40 lines", () => {
  const lines = README.trimEnd().split("\n");
  expect(lines.length).toBeLessThanOrEqual(110);
  const commands = lines.flatMap((line, at) => (line.startsWith("npm ci && ") ? [{ line, at }] : []));
  expect(commands.map(({ line }) => line)).toEqual([
    'npm ci && node bin/research.js try "What does exit code 11 mean?" --sources docs',
    "npm ci && npm test",
  ]);
  expect(commands.every(({ at }) => at < 40)).toBe(true);
  expect(lines[2]).toMatch(/^[A-Z][^|<#`]{60,}\.$/);
});

test("every link of README and docs leads to a file, and to a heading of it", () => {
  const slug = (heading: string) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .trim()
      .replaceAll(" ", "-");
  const broken = [...FILES, "SECURITY.md", "CONTRIBUTING.md", "AGENTS.md", "src/README.md"].flatMap((file) =>
    Array.from(read(file).matchAll(/\]\((?!https?:|mailto:)([^)\s]*)\)/g), ([, link = ""]) => link)
      .filter((link) => {
        const [path = "", anchor] = link.split("#");
        const target = path === "" ? file : join(dirname(file), path);
        if (!existsSync(join(ROOT, target))) return true;
        if (anchor === undefined) return false;
        const headings = Array.from(read(target).matchAll(/^#+ (.*)$/gm), ([, heading = ""]) =>
          slug(heading),
        );
        return !headings.includes(anchor);
      })
      .map((link) => `${file}: ${link}`),
  );
  expect(broken).toEqual([]);
});

describe("within two clicks of the README:", () => {
  test.each([
    ["how to use an account", "docs/accounts.md", /research login openai/],
    ["what a create is sent again for", "docs/accounts.md", /^\| SDK or program \|/m],
    ["deep research in agents", "docs/agents.md", /research mcp --print-config/],
    ["what 11 means", "docs/start.md", /^### Exit 11$/m],
    ["how to resume a batch", "docs/batches.md", /^## Resume$/m],
    ["how to run it in CI", "docs/pipelines.md", /^## GitHub Actions$/m],
  ])("%s", (_, file, found) => {
    expect(README).toContain(`](${file})`);
    expect(read(file)).toMatch(found);
  });
});

test("the newcomer's question has a right passage first, and others that speak of it, each with its place", async () => {
  const [command = ""] = /node bin\/research\.js try .*/.exec(README) ?? [];
  const run = await bash(`cd "${ROOT}" && ${command}`, { timeoutMs: 60_000 });
  expect(run).toMatchObject({ code: 0 });
  const [, first = "", ...others] = run.stdout.split(/^\d\. (?=`[a-z]+\.md:\d+`)/m);
  expect(first).toMatch(/\n {3}> \| 11 \| `create`: outcome unknown; /);
  expect(others.length).toBeGreaterThan(1);
  for (const other of others) expect(other).toMatch(/11.*exit|exit.*11/is);
});
