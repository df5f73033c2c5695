import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { folderWith } from "../../support/folder.js";
import { research } from "../../support/in-process.js";

test("--install writes where bash looks, over its own file only, unless --force is given", async () => {
  const home = folderWith();
  const path = join(home, ".local/share/bash-completion/completions/research");
  const install = (...flags: string[]) => research(["completion", "bash", "--install", ...flags], { home });
  expect((await install()).code).toBe(0);
  const script = readFileSync(path, "utf8");
  expect(script).toBe((await research(["completion", "bash"], { home })).stdout);
  expect((await install()).code).toBe(0);
  writeFileSync(path, "mine\n");
  expect(await install()).toMatchObject({ code: 12, stderr: expect.stringContaining("--force") });
  expect(readFileSync(path, "utf8")).toBe("mine\n");
  expect((await install("--force")).code).toBe(0);
  expect(readFileSync(path, "utf8")).toBe(script);
});

test("fish has a folder of its own, and zsh a line to add; no start-up file is written", async () => {
  const home = folderWith();
  mkdirSync(dirname(join(home, ".config/fish/x")), { recursive: true });
  const installed = async (shell: string) => {
    const { code, stdout } = await research(["completion", shell, "--install", "--json"], { home });
    expect(code).toBe(0);
    return JSON.parse(stdout);
  };
  expect(await installed("fish")).toMatchObject({ path: expect.stringContaining("fish"), line: null });
  const zsh = await installed("zsh");
  expect(readFileSync(zsh.path, "utf8")).toContain("#compdef research");
  expect(zsh.line).toContain(zsh.path);
});

test("no shell named is exit 2", async () => {
  expect((await research(["completion"])).code).toBe(2);
});
