import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../../..");
const OWNER = "src/core/http/undici.ts";
const require = createRequire(import.meta.url);

const imports = (file: string) =>
  Array.from(
    readFileSync(join(root, file), "utf8").matchAll(/(?:from|import|import\()\s*"(undici\/[^"]+)"/g),
    ([, name = ""]) => name,
  );

// What each module has to be, or to have: what this program calls.
const MODULES: Record<string, (module: Record<string, unknown>) => unknown> = {
  "undici/lib/core/connect.js": (module) => typeof module === "function",
  "undici/lib/core/symbols.js": ({ kSocket, kParser }) =>
    typeof kSocket === "symbol" && typeof kParser === "symbol",
  "undici/lib/dispatcher/agent.js": ({ prototype }) => typeof Object(prototype).dispatch === "function",
  "undici/lib/dispatcher/client.js": ({ prototype }) => typeof Object(prototype).dispatch === "function",
  "undici/lib/dispatcher/pool.js": ({ prototype }) => typeof Object(prototype).dispatch === "function",
  "undici/lib/api/api-connect.js": (module) => typeof module === "function",
  "undici/lib/api/api-request.js": (module) => typeof module === "function",
};

test("private modules of undici are imported in one file, and each of them is checked below", () => {
  const files = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && !name.endsWith(".d.ts"))
    .map((name) => join("src", name));
  expect(files.filter((file) => imports(file).length > 0)).toEqual([OWNER]);
  // The public entry is for types only: it would put all of undici into the package once more.
  const values = files.filter((file) =>
    /^import (?!type )[^;]*from "undici";/m.test(readFileSync(join(root, file), "utf8")),
  );
  expect(values).toEqual([]);
  expect([...new Set(imports(OWNER))].sort()).toEqual(Object.keys(MODULES).sort());
});

test.each(Object.entries(MODULES))("%s is there, and what is used of it", (name, isThere) => {
  let module: Record<string, unknown> | undefined;
  try {
    module = require(name);
  } catch (error) {
    expect.unreachable(`undici has no ${name} any more: ${error}`);
  }
  expect(isThere(Object(module)), `${name} has another form`).toBe(true);
});
