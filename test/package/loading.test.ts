import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { beforeAll, expect, test } from "vitest";
import config from "../../build/rolldown.config.js";
import { folderWith } from "../support/folder.js";
import { world } from "../support/world.js";

// What a command loads is what its start takes, so each module is there on purpose: an import that brings others
// along shows here. `npx vitest run test/package/loading.test.ts -u` accepts what has changed.

const root = join(import.meta.dirname, "../..");
const contents = new Map<string, string[]>();

beforeAll(async () => {
  const bundle = await rolldown(config);
  const { output } = await bundle.generate([config.output].flat()[0]);
  await bundle.close();
  for (const file of output) if (file.type === "chunk") contents.set(file.fileName, file.moduleIds);
});

/** A module of ours by its path, one of a library by the library's name. */
function named(id: string): string {
  const path = relative(root, id);
  return /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? path;
}

/** The modules in the files of `dist` that a run has loaded: V8's coverage names each of them. */
function modulesIn(coverage: string): string[] {
  const urls = readdirSync(coverage).flatMap((name) => {
    const { result } = JSON.parse(readFileSync(join(coverage, name), "utf8")) as {
      result: { url: string }[];
    };
    return result.map(({ url }) => url).filter((url) => url.startsWith("file:"));
  });
  const files = urls.map((url) => relative(join(root, "dist"), fileURLToPath(url)));
  const loaded = files.filter((file) => !file.startsWith(".."));
  expect(
    loaded.filter((file) => !contents.has(file)),
    "dist is older than src: npm run build",
  ).toEqual([]);
  const modules = loaded.flatMap((file) => contents.get(file) ?? []);
  return [...new Set(modules.filter((id) => !id.startsWith("\0")).map(named))].sort();
}

/** Writes the names of the modules of Node that were loaded, one a line, when the program ends. */
const RECORDER = `
  process.on("exit", () => {
    const loaded = process.moduleLoadList.filter((name) => /^NativeModule (?!internal)/.test(name));
    require("node:fs").writeFileSync(process.env.RECORD, loaded.map((name) => name.split(" ")[1]).join("\\n"));
  });
`;

const NETWORK = ["net", "tls", "http", "_http_client", "http2", "dns"];
const COSTLY = ["crypto", "zlib", "child_process", "tty", "worker_threads"];

test.each([
  { name: "version", args: ["--version"], never: [...NETWORK, ...COSTLY, "stream"] },
  { name: "help", args: ["--help"], never: [...NETWORK, ...COSTLY, "stream"] },
  { name: "list", args: ["list"], never: [...NETWORK, ...COSTLY] },
  { name: "status", args: ["status", "ID"], never: [...NETWORK.filter((name) => name !== "net"), ...COSTLY] },
])("$name loads what it needs, and nothing else", async ({ name, args, never }) => {
  const here = await world();
  const id = here.service.add("x => COMPLETED");
  const coverage = folderWith();
  const recording = folderWith({ "recorder.cjs": RECORDER });
  const run = await here.research(
    args.map((arg) => (arg === "ID" ? id : arg)),
    {
      env: {
        NODE_V8_COVERAGE: coverage,
        NODE_OPTIONS: `--require=${join(recording, "recorder.cjs")}`,
        RECORD: join(recording, "builtins"),
      },
    },
  );
  expect(run).toMatchObject({ code: 0 });
  await expect(`${modulesIn(coverage).join("\n")}\n`).toMatchFileSnapshot(`loaded/${name}.txt`);
  const builtins = readFileSync(join(recording, "builtins"), "utf8").split("\n");
  expect(builtins.filter((builtin) => never.includes(builtin))).toEqual([]);
});
