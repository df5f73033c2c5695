import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";

const folder = join(import.meta.dirname, "../../.github/workflows");
type Workflow = { permissions: unknown; jobs: Record<string, { steps: { uses?: string; run?: string }[] }> };
const workflows: [string, Workflow][] = readdirSync(folder).map((name) => [
  name,
  parse(readFileSync(join(folder, name), "utf8")),
]);

test.each(workflows)(
  "%s: actions are pinned, permissions are read-only, scripts hold no expression",
  (_, workflow) => {
    expect(workflow.permissions).toEqual({ contents: "read" });
    for (const { uses, run } of Object.values(workflow.jobs).flatMap(({ steps }) => steps)) {
      if (uses !== undefined) expect(uses).toMatch(/^[\w-]+\/[\w/-]+@[0-9a-f]{40}$/);
      if (run !== undefined) expect(run).not.toContain("${{");
    }
  },
);

test("the recipes in the documentation are YAML, and their actions are pinned, too", () => {
  const text = readFileSync(join(folder, "../../docs/pipelines.md"), "utf8");
  const used = Array.from(text.matchAll(/uses: (actions\/\S+)/g), ([, name]) => name);
  expect(used.length).toBeGreaterThan(2);
  for (const name of used) expect(name).toMatch(/@[0-9a-f]{40}$/);
  const recipes = Array.from(text.matchAll(/^```yaml\n([\s\S]*?)^```/gm), ([, recipe = ""]) => recipe);
  expect(recipes.length).toBeGreaterThan(3);
  // A colon in a plain line makes it a mapping, which is no command.
  const scripts = recipes.flatMap((recipe) => {
    const { research, script = research?.script } = parse(recipe);
    return script === undefined ? [] : [script];
  });
  expect(scripts.length).toBeGreaterThan(1);
  for (const line of scripts.flat()) expect(line).toEqual(expect.any(String));
});

test("each action's runtime is one that runners still have, and the table names it for each pin", () => {
  const root = join(folder, "../..");
  const table: Record<string, { version: string; runtime: string }> = parse(
    readFileSync(join(root, ".github/action-runtimes.yml"), "utf8"),
  );
  const files = [
    "action.yml",
    "docs/pipelines.md",
    ...workflows.map(([name]) => `.github/workflows/${name}`),
  ];
  const text = files.map((name) => readFileSync(join(root, name), "utf8")).join("\n");
  const pins = Array.from(text.matchAll(/uses: ([\w/-]+@[0-9a-f]{40}) # (v[\d.]+)$/gm));
  expect(pins.length).toBe(text.match(/uses: (?!OWNER)/g)?.length);
  for (const [, pin = "", version] of pins) expect(table[pin], pin).toEqual({ version, runtime: "node24" });
  expect(Object.keys(table).sort()).toEqual([...new Set(pins.map(([, pin]) => pin))].sort());
});

test("no recipe installs a package by a name: whoever registers it would run code beside the key", () => {
  const root = join(folder, "../..");
  const docs = readdirSync(join(root, "docs")).filter((name) => name.endsWith(".md"));
  const files = ["README.md", "action.yml", "deploy/Dockerfile", ...docs.map((name) => `docs/${name}`)];
  for (const name of files) {
    // What is said of the time after it was published is no recipe for now.
    const text = readFileSync(join(root, name), "utf8").replace(/Once published, [^.]*\./, "");
    expect(text, name).not.toMatch(
      /\bresearch-cli@|\bnp(m (i|install|exec)|x)\b[^\n`]*[^-./\w]research-cli(?!\.tgz|-)/,
    );
  }
});
