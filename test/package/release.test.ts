import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";

const root = join(import.meta.dirname, "../..");
const read = (name: string) => readFileSync(join(root, name), "utf8");

// install.test.ts publishes a release and installs it.
test("the workflow sets the fields before it packs, and the version stands in the changelog", () => {
  const workflow = parse(read(".github/workflows/release.yml"));
  const runs = (workflow.jobs.release.steps as { run?: string }[]).map(({ run = "" }) => run);
  const at = (text: string) => runs.findIndex((run) => run.includes(text));
  expect(at("release-fields.js")).toBeGreaterThan(0);
  expect(at("release-fields.js")).toBeLessThan(at("npm pack"));
  expect(at("npm pack")).toBeLessThan(at("npm publish --provenance"));
  const { version } = JSON.parse(read("package.json"));
  expect(read("CHANGELOG.md")).toContain(`## [${version}]`);
  expect(JSON.parse(read("server.json"))).toMatchObject({ version, packages: [{ version }] });
});
