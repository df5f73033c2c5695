import { spawn, spawnSync } from "node:child_process";
import { cpSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { dirname, join } from "node:path";
import { json } from "node:stream/consumers";
import { beforeAll, expect, test } from "vitest";
import { requireBuild } from "../support/build.js";
import { folderWith } from "../support/folder.js";
import { HappyService } from "../support/happy-service.js";
import { listen } from "../support/listen.js";
import { environment, NODE, Running } from "../support/run.js";

// A release, as the workflow makes it: its fields are set, npm publishes it, and somebody installs it.

const root = join(import.meta.dirname, "../..");
const PACKED_BYTES = 800_000;
const folder = folderWith({ "package.json": "{}" });
const installed = join(folder, "node_modules/research-cli");
const tarball = join(folder, "research-cli.tgz");
const copy = folderWith();
let published: Awaited<ReturnType<typeof command>>;

const read = (path: string) => JSON.parse(readFileSync(path, "utf8"));

/** Runs a command of npm or Node to its end. */
async function command(name: string, args: readonly string[], cwd: string, env = process.env) {
  const child = spawn(name, args, { cwd, env });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (part) => (stdout += part));
  child.stderr.on("data", (part) => (stderr += part));
  const code = await new Promise((resolve) => child.once("close", resolve));
  return { code, stdout, stderr };
}

/** A copy of what is packed, with the fields that the release workflow sets in `acme/deep`. Packing changes its manifest for a moment. */
async function makeCopy(): Promise<void> {
  const { files } = read(join(root, "package.json")) as { files: string[] };
  const names = files.map((name) => name.split("/")[0] ?? "");
  for (const name of new Set([...names, "package.json", "server.json", "build"]))
    cpSync(join(root, name), join(copy, name), { recursive: true });
  // It is built already.
  writeFileSync(join(copy, "build/prepare.js"), "");
  const env = { GITHUB_SERVER_URL: "https://github.com", GITHUB_REPOSITORY: "acme/deep" };
  const set = await command(NODE, [join(root, ".github/release-fields.js")], copy, env);
  expect(set.code, set.stderr).toBe(0);
}

/** Publishes the copy to a registry that knows no package and keeps the tarball: nothing may leave this machine. */
async function publish(): Promise<void> {
  const registry = createServer(async (request, response) => {
    if (request.method !== "PUT") return void response.writeHead(404).end("{}");
    const { _attachments } = (await json(request)) as { _attachments: Record<string, { data: string }> };
    const [attachment] = Object.values(_attachments);
    writeFileSync(tarball, Buffer.from(attachment?.data ?? "", "base64"));
    response.writeHead(201).end("{}");
  });
  const host = `//127.0.0.1:${await listen(registry)}/`;
  writeFileSync(join(copy, ".npmrc"), `${host}:_authToken=of-the-test\n`);
  published = await command("npm", ["publish", "--json", `--registry=http:${host}`], copy);
  registry.close();
}

beforeAll(async () => {
  requireBuild();
  await makeCopy();
  await publish();
  expect(published.code, published.stderr).toBe(0);
  // Nothing may have to be fetched.
  const args = ["install", "--offline", "--ignore-scripts", "--no-audit", "--no-fund", tarball];
  const { code, stderr } = await command("npm", args, folder);
  expect(code, stderr).toBe(0);
  // npm itself takes minutes on a machine with other work.
}, 600_000);

test("the release sets the addresses of its repository, and one name for npm and the MCP registry", () => {
  const { version, mcpName, repository, homepage, bugs } = read(join(installed, "package.json"));
  expect({ mcpName, repository, homepage, bugs }).toEqual({
    mcpName: "io.github.acme/research-cli",
    repository: { type: "git", url: "git+https://github.com/acme/deep.git" },
    homepage: "https://github.com/acme/deep#readme",
    bugs: { url: "https://github.com/acme/deep/issues" },
  });
  const server = read(join(copy, "server.json"));
  expect(server).toMatchObject({
    name: mcpName,
    version,
    packages: [{ identifier: "research-cli", version }],
  });
  expect(server.description.length).toBeLessThanOrEqual(100);
});

test("npm publishes it, and has nothing to correct", () => {
  const { stdout, stderr } = published;
  expect(stderr).not.toMatch(/auto-corrected|npm error/);
  // npm 11 gives an object by the package's name, older ones that of the package.
  const packed = JSON.parse(stdout.slice(stdout.indexOf("{")));
  const { name, files } = (packed["research-cli"] ?? packed) as { name: string; files: { path: string }[] };
  expect(name).toBe("research-cli");
  const paths = files.map(({ path }) => path);
  expect(paths).toEqual(
    expect.arrayContaining(["bin/research.js", "dist/main.js", "README.md", "CHANGELOG.md"]),
  );
});

test("it adds one package, with no dependency and no script of its own", () => {
  const names = readdirSync(join(folder, "node_modules")).filter((name) => !name.startsWith("."));
  expect(names).toEqual(["research-cli"]);
  expect(readdirSync(installed)).not.toContain("node_modules");
  const { dependencies } = read(join(installed, "package.json"));
  expect(dependencies ?? {}).toEqual({});
});

test("the packed manifest has no scripts, and the one in the repository keeps its own", () => {
  const { name, scripts } = read(join(installed, "package.json"));
  expect([name, scripts]).toEqual(["research-cli", undefined]);
  expect(read(join(copy, "package.json")).scripts.prepare).toBeDefined();
});

test(`the tarball has the whole program, and at most ${PACKED_BYTES} bytes`, () => {
  expect(statSync(join(installed, "dist")).isDirectory()).toBe(true);
  expect(statSync(tarball).size).toBeGreaterThan(PACKED_BYTES / 2);
  expect(statSync(tarball).size).toBeLessThanOrEqual(PACKED_BYTES);
});

test("what its documents link to and show is in it", () => {
  const pages = readdirSync(installed, { recursive: true, encoding: "utf8" }).filter((path) =>
    path.endsWith(".md"),
  );
  const links = pages.flatMap((page) =>
    Array.from(
      readFileSync(join(installed, page), "utf8").matchAll(
        /(?:\]\(|\b(?:src|srcset)=")(?!https?:|mailto:|#)([^)"#\s]+)/g,
      ),
      ([, path = ""]) => join(dirname(page), path),
    ),
  );
  expect(links).toEqual(expect.arrayContaining(["docs/start.md", "docs/demo-dark.svg"]));
  expect(links.filter((path) => !existsSync(join(installed, path)))).toEqual([]);
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
  const args = [program, "run", "a question => PENDING COMPLETED", "--interval", "20ms"];
  expect(await new Running(NODE, args, { home, env: service.env }).done).toMatchObject({
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

/** A block of docs/library.md that starts like this. */
function documented(start: RegExp): string {
  const text = readFileSync(join(root, "docs/library.md"), "utf8");
  const blocks = Array.from(text.matchAll(/```[jt]s\n(.*?)```/gs), ([, block = ""]) => block);
  return blocks.find((block) => start.test(block)) ?? "";
}

test("the library has its types, which ask for nothing that is not there; the examples compile under strict", () => {
  const snippet = documented(/^import .*\bResearchClient\b/);
  expect(snippet).toContain("new ResearchClient(");
  const process = "declare const process: { env: Record<string, string | undefined> };\n";
  const files = {
    "consumer.mts": CONSUMER,
    "snippet.mts": process + snippet,
    "typed.mts": documented(/^\/\/ typed\.ts\n/),
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const options = ["--strict", "--module", "nodenext", "--target", "es2023", "--types", ""];
  const tsc = spawnSync(
    NODE,
    [join(root, "node_modules/typescript/bin/tsc"), ...options, ...Object.keys(files)],
    { cwd: folder, encoding: "utf8" },
  );
  expect(tsc.stdout + tsc.stderr).toBe("");
});

test("a typed result is checked", async () => {
  let output: object = { metres: 4806 };
  const { env } = await HappyService.start({ output: () => output });
  const typed = () => new Running(NODE, ["typed.mjs"], { cwd: folder, env }).done;
  expect(await typed()).toMatchObject({ code: 0, stdout: "4806\n" });
  output = {};
  expect(await typed()).toMatchObject({ code: 1, stderr: expect.stringContaining("SCHEMA_MISMATCH") });
});

test("the library asks for nothing that is not there", () => {
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
