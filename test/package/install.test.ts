import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { folderWith } from "../support/folder.js";
import { HappyService } from "../support/happy-service.js";
import { environment, NODE, Running } from "../support/run.js";

const root = join(import.meta.dirname, "../..");
const PACKED_BYTES = 800_000;
const folder = folderWith();
const installed = join(folder, "node_modules/research-cli");
let tarball: string;

const npm = (args: readonly string[], cwd: string) =>
  execFileSync("npm", [...args, "--ignore-scripts", "--no-audit", "--no-fund"], { cwd, encoding: "utf8" });

beforeAll(() => {
  const [packed] = JSON.parse(npm(["pack", "--json", "--pack-destination", folder], root)) as [
    { filename: string },
  ];
  tarball = join(folder, packed.filename);
  writeFileSync(join(folder, "package.json"), "{}");
  // Nothing may have to be fetched.
  npm(["install", "--offline", tarball], folder);
}, 120_000);

test("it adds one package, with no dependency and no script of its own", () => {
  const names = readdirSync(join(folder, "node_modules")).filter((name) => !name.startsWith("."));
  expect(names).toEqual(["research-cli"]);
  expect(readdirSync(installed)).not.toContain("node_modules");
  const { dependencies, scripts } = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"));
  expect(dependencies ?? {}).toEqual({});
  expect(Object.keys(scripts)).not.toEqual(
    expect.arrayContaining([expect.stringMatching(/^(pre|post)?install$/)]),
  );
});

test("the packed manifest has no scripts, and the one in the repository keeps its own", () => {
  // A copy, since packing changes the manifest for a moment.
  const copy = folderWith({
    "package.json": readFileSync(join(root, "package.json")),
    "build/packed-manifest.js": readFileSync(join(root, "build/packed-manifest.js")),
    "build/prepare.js": "",
  });
  execFileSync("npm", ["pack", "--silent"], { cwd: copy });
  const packed = join(copy, basename(tarball));
  const unpacked = execFileSync("tar", ["xzOf", packed, "package/package.json"], { encoding: "utf8" });
  const manifest = JSON.parse(unpacked);
  expect(manifest.name).toBe("research-cli");
  expect(manifest.scripts).toBeUndefined();
  expect(JSON.parse(readFileSync(join(copy, "package.json"), "utf8")).scripts.prepare).toBeDefined();
});

test(`the tarball has the whole program, and at most ${PACKED_BYTES} bytes`, () => {
  expect(statSync(join(installed, "dist")).isDirectory()).toBe(true);
  expect(statSync(tarball).size).toBeGreaterThan(PACKED_BYTES / 2);
  expect(statSync(tarball).size).toBeLessThanOrEqual(PACKED_BYTES);
});

test("what the README links to is in it", () => {
  const text = readFileSync(join(installed, "README.md"), "utf8");
  const links = Array.from(text.matchAll(/\]\((?!https?:|#)([^)#\s]+)/g), ([, path = ""]) => path);
  expect(links).toContain("docs/start.md");
  for (const path of links) expect(existsSync(join(installed, path)), path).toBe(true);
});

test("the licence of each package that is bundled is in it", () => {
  const text = readFileSync(join(installed, "dist/THIRD_PARTY_LICENSES"), "utf8");
  for (const name of ["commander", "undici", "valibot", "hono", "ajv"]) {
    expect(text).toMatch(new RegExp(`^${name} [\\d.]+ \\(MIT\\)$`, "m"));
  }
  expect(text).toContain("Permission is hereby granted");
  expect(text.match(/^\s*Copyright /gim)?.length).toBeGreaterThan(20);
});

test("the main job runs from it", async () => {
  const service = await HappyService.start();
  const home = folderWith();
  const program = join(folder, "node_modules/.bin/research");
  const research = (...args: string[]) =>
    new Running(NODE, [program, ...args], { home, env: service.env }).done;
  const created = await research("create", "a question => PENDING COMPLETED");
  const id = created.stdout.trim();
  expect(await research("watch", "@last", "--interval", "20ms")).toMatchObject({
    code: 0,
    stdout: `${id}\tCOMPLETED\n`,
  });
  expect(await research("output", id)).toMatchObject({
    code: 0,
    stdout: "An answer to: a question => PENDING COMPLETED",
  });
});

test("the local service and its researcher run from it", async () => {
  const sources = folderWith();
  writeFileSync(join(sources, "notes.txt"), "The heron nests in reed beds along the river.\n");
  const program = join(folder, "node_modules/.bin/research");
  const run = await new Running(NODE, [program, "try", "Where does the heron nest?", "--sources", sources])
    .done;
  expect(run).toMatchObject({ code: 0, stdout: expect.stringContaining("notes.txt:1") });
});

const CONSUMER = `
import { ResearchClient, UnreachableError, isFinal, type Status, type WatchEvent } from "research-cli";

const client = new ResearchClient({ baseUrl: "http://127.0.0.1:1", apiKey: "k", requestTimeout: 1_000 });
export async function follow(id: string): Promise<Status | null> {
  let last: Status | null = null;
  for await (const event of client.watch([id])) if (event.kind === "state") last = event.status;
  return last;
}
export const ends = (event: WatchEvent): boolean => event.kind === "state" && isFinal(event.status);
export { UnreachableError };
// @ts-expect-error A prompt is a string.
export const wrong = () => client.create({ prompt: 1 });
`;

test("the library is imported with its types, and asks for nothing that is not there", () => {
  writeFileSync(join(folder, "consumer.mts"), CONSUMER);
  const options = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2022", "--types", ""];
  const tsc = spawnSync(
    process.execPath,
    [join(root, "node_modules/typescript/bin/tsc"), ...options, "consumer.mts"],
    {
      cwd: folder,
      encoding: "utf8",
    },
  );
  expect(tsc.stdout + tsc.stderr).toBe("");
  const use = `
    import { ResearchClient, UnreachableError, isFinal } from "research-cli";
    const client = new ResearchClient({ baseUrl: "http://127.0.0.1:1", apiKey: "k", random: () => 0, clock: {
      now: Date.now, monotonic: () => performance.now(), sleep: async () => {} } });
    const error = await client.status("an-id").catch((error) => error);
    console.log(isFinal("STOPPED"), error instanceof UnreachableError);`;
  const run = spawnSync(NODE, ["--input-type=module", "--eval", use], {
    cwd: folder,
    encoding: "utf8",
    env: environment(folder),
  });
  expect(run.stdout, run.stderr).toBe("true true\n");
});
