import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { listBrowserCommands, openInBrowser } from "../../../src/cli/results/open-result-page.js";
import { systemClock } from "../../../src/core/clock.js";
import { folderWith } from "../../support/folder.js";

describe("what opens a file", () => {
  test.each<[string | undefined, NodeJS.Platform, string[][]]>([
    [undefined, "linux", [["xdg-open"]]],
    ["", "freebsd", [["xdg-open"]]],
    [undefined, "darwin", [["open"]]],
    ["firefox", "linux", [["firefox"]]],
    ["firefox --new-window %s:w3m", "linux", [["firefox", "--new-window", "%s"], ["w3m"]]],
  ])("BROWSER %j on %s", (browser, platform, expected) => {
    expect(listBrowserCommands(browser, platform)).toEqual(expected);
  });
});

/** A browser that notes what it was started with, and its environment. */
function script(name: string, end: string): { path: string; folder: string } {
  const folder = folderWith();
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\nprintf '%s\\n' "$@" > '${folder}/args'\nenv > '${folder}/env'\n${end}\n`, {
    mode: 0o755,
  });
  return { path, folder };
}

const open = (browser: string, path = "/a b.html", env = {}) =>
  openInBrowser(
    { env: { PATH: process.env.PATH, BROWSER: browser, ...env }, platform: "linux", clock: systemClock },
    path,
    new AbortController().signal,
  );

test("BROWSER gets the path, evaluated by nothing, and no secret", async () => {
  const { path, folder } = script("with blank", "exit 0");
  const hostile = "/tmp/$(touch X) `touch X`.html";
  expect(await open(path, hostile, { RESEARCH_API_KEY: "sk-secret", PGPASSWORD: "pg-secret" })).toBe(true);
  expect(readFileSync(join(folder, "args"), "utf8")).toBe(`${hostile}\n`);
  expect(readFileSync(join(folder, "env"), "utf8")).not.toContain("secret");
});

test("%s stands for the path", async () => {
  const { path, folder } = script("browser", "exit 0");
  expect(await open(`${path} --new file=%s end`)).toBe(true);
  expect(readFileSync(join(folder, "args"), "utf8")).toBe("--new\nfile=/a b.html\nend\n");
});

test("the next one is tried if one fails or is missing", async () => {
  const { path, folder } = script("browser", "exit 0");
  expect(await open(`/missing:false:${path}`)).toBe(true);
  expect(readFileSync(join(folder, "args"), "utf8")).toBe("/a b.html\n");
  expect(await open("/missing:false")).toBe(false);
});

test("a browser that stays is a browser that was started", async () => {
  const { path, folder } = script("browser", `echo $$ > "$(dirname "$0")/pid"; exec sleep 60`);
  expect(await open(path)).toBe(true);
  process.kill(Number(readFileSync(join(folder, "pid"), "utf8")));
});
