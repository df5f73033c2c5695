import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..");
const WINGS = ["client", "reader", "core"];
const ROOMS = readdirSync(join(root, "src")).flatMap((name) =>
  WINGS.includes(name) ? readdirSync(join(root, "src", name)).map((room) => `${name}/${room}`) : name,
);

/** The paths that a text names: in code spans and in the map, from the root or from src. */
function pathsIn(text: string): string[] {
  const spans = Array.from(text.matchAll(/`([^`\n]+)`/g), ([, span = ""]) => span);
  const map = Array.from(text.matchAll(/^((?:bin|src)\/\S+)/gm), ([, path = ""]) => path);
  return [...spans, ...map].filter((path) => /^[\w.-]+\/[\w./<>-]*$/.test(path));
}

/** Whether a path is there; `<verb>` is any command. */
function isThere(path: string): boolean {
  const all = path.includes("<verb>")
    ? readdirSync(join(root, "src/cli/commands")).map((verb) => path.replace("<verb>", verb))
    : [path];
  return all.some((one) => existsSync(join(root, one)) || existsSync(join(root, "src", one)));
}

const text = readFileSync(join(root, "src/README.md"), "utf8");

test("each path that src/README.md names exists", () => {
  const paths = pathsIn(text);
  expect(paths.length).toBeGreaterThan(60);
  expect(paths.filter((path) => !isThere(path))).toEqual([]);
});

test.each(["SECURITY.md", "CONTRIBUTING.md"])("each path that %s names exists", (name) => {
  const paths = pathsIn(readFileSync(join(root, name), "utf8"));
  expect(paths.length).toBeGreaterThan(2);
  expect(paths.filter((path) => !isThere(path))).toEqual([]);
});

test("the map names each room, and none twice", () => {
  const map = text.slice(0, text.indexOf("Imports only"));
  expect(ROOMS.filter((room) => !map.includes(`src/${room}`) && room !== "README.md")).toEqual([]);
  const named = Array.from(map.matchAll(/^src\/\S+/gm), ([path]) => path);
  expect(named).toEqual([...new Set(named)]);
});

test("a path that is gone is seen", () => {
  const paths = pathsIn("`client/gone.ts`, `cli/commands/<verb>/gone.ts`, `GET /x` and a/b\n");
  expect(paths.filter((path) => !isThere(path))).toEqual(["client/gone.ts", "cli/commands/<verb>/gone.ts"]);
});
