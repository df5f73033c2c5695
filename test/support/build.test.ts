import { rmSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { requireBuild, staleBuild } from "./build.js";
import { folderWith } from "./folder.js";
import { start } from "./run.js";
import { screen } from "./screen.js";

afterEach(() => void vi.unstubAllEnvs());

const FILES = {
  ...{
    "src/deep/a.ts": "",
    "build/b.js": "",
    "skills/research/SKILL.md": "",
    "openapi.yaml": "",
    "package.json": "{}",
  },
  ...{ "dist/main.js": "", "test/a.test.ts": "" },
};

/** A checkout whose files are all of one time; `touch` makes one of them a second newer. */
function checkout() {
  const root = folderWith(FILES);
  for (const name of Object.keys(FILES)) utimesSync(join(root, name), 1_000, 1_000);
  return { root, touch: (name: string) => utimesSync(join(root, name), 1_001, 1_001) };
}

test.each(Object.keys(FILES).filter((name) => !/^(dist|test)/.test(name)))(
  "a build older than %s is stale",
  (name) => {
    const { root, touch } = checkout();
    expect(staleBuild(root)).toBeUndefined();
    touch(name);
    expect(staleBuild(root)).toBe(`the build is older than ${name}: run \`npm run build\``);
    touch("dist/main.js");
    expect(staleBuild(root)).toBeUndefined();
  },
);

test("so is one that is not there; a test is no source", () => {
  const { root, touch } = checkout();
  touch("test/a.test.ts");
  expect(staleBuild(root)).toBeUndefined();
  rmSync(join(root, "dist"), { recursive: true });
  expect(staleBuild(root)).toContain("run `npm run build`");
});

test("a stale build is not started", () => {
  vi.stubEnv("TEST_STALE_BUILD", "it is stale");
  for (const use of [requireBuild, () => start(["--version"]), () => screen(["--version"])])
    expect(use).toThrow("it is stale");
});
