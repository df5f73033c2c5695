import { execFileSync, spawn } from "node:child_process";
import { cpSync, readFileSync, symlinkSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { folderWith } from "../support/folder.js";

const root = join(import.meta.dirname, "../..");
const read = (folder: string, name: string) => JSON.parse(readFileSync(join(folder, name), "utf8"));

/** A copy of what is packed, with the fields that the release workflow sets in `acme/deep`. */
function releaseCopy(): string {
  const copy = folderWith();
  const { files } = read(root, "package.json") as { files: string[] };
  const names = files.map((name) => name.split("/")[0] ?? "");
  for (const name of new Set([...names, "package.json", "server.json", "build"]))
    cpSync(join(root, name), join(copy, name), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  const env = { GITHUB_SERVER_URL: "https://github.com", GITHUB_REPOSITORY: "acme/deep" };
  execFileSync(process.execPath, [join(root, ".github/release-fields.js")], { cwd: copy, env });
  return copy;
}

test("the release sets the addresses of its repository, and one name for npm and the MCP registry", () => {
  const copy = releaseCopy();
  const { version, mcpName, repository, homepage, bugs } = read(copy, "package.json");
  expect({ mcpName, repository, homepage, bugs }).toEqual({
    mcpName: "io.github.acme/research-cli",
    repository: { type: "git", url: "git+https://github.com/acme/deep.git" },
    homepage: "https://github.com/acme/deep#readme",
    bugs: { url: "https://github.com/acme/deep/issues" },
  });
  const server = read(copy, "server.json");
  expect(server).toMatchObject({
    name: mcpName,
    version,
    packages: [{ identifier: "research-cli", version }],
  });
  expect(server.description.length).toBeLessThanOrEqual(100);
});

test("npm would publish it, and has nothing to correct", async () => {
  const copy = releaseCopy();
  // A registry that knows no package: nothing may leave this machine.
  const registry = createServer((_, response) => response.writeHead(404).end("{}"));
  await new Promise<void>((resolve) => registry.listen(0, "127.0.0.1", resolve));
  const address = `http://127.0.0.1:${(registry.address() as AddressInfo).port}`;
  const args = ["publish", "--dry-run", "--json", "--ignore-scripts", `--registry=${address}`];
  const child = spawn("npm", args, { cwd: copy });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (part) => (stdout += part));
  child.stderr.on("data", (part) => (stderr += part));
  const code = await new Promise((resolve) => child.once("close", resolve));
  registry.close();
  expect(code, stderr).toBe(0);
  expect(stderr).not.toMatch(/auto-corrected|npm error/);
  // npm 11 gives an object by the package's name, older ones that of the package.
  const told = JSON.parse(stdout.slice(stdout.indexOf("{")));
  const { name, files } = (told["research-cli"] ?? told) as { name: string; files: { path: string }[] };
  expect(name).toBe("research-cli");
  const paths = files.map(({ path }) => path);
  expect(paths).toEqual(
    expect.arrayContaining(["bin/research.js", "dist/main.js", "README.md", "CHANGELOG.md"]),
  );
});

test("the workflow sets the fields before it packs, and the version stands in the changelog", () => {
  const workflow = parse(readFileSync(join(root, ".github/workflows/release.yml"), "utf8"));
  const runs = (workflow.jobs.release.steps as { run?: string }[]).map(({ run = "" }) => run);
  const at = (text: string) => runs.findIndex((run) => run.includes(text));
  expect(at("release-fields.js")).toBeGreaterThan(0);
  expect(at("release-fields.js")).toBeLessThan(at("npm pack"));
  expect(at("npm pack")).toBeLessThan(at("npm publish --provenance"));
  const { version } = read(root, "package.json");
  expect(readFileSync(join(root, "CHANGELOG.md"), "utf8")).toContain(`## [${version}]`);
  expect(read(root, "server.json")).toMatchObject({ version, packages: [{ version }] });
});
