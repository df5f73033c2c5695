// Writes what only the place of a release knows: the addresses of the repository into package.json, and the name of the
// server in the MCP registry, which belongs to the repository's owner, into package.json and server.json. The registry of
// npm refuses provenance without `repository`.
import { readFileSync, writeFileSync } from "node:fs";
import process from "node:process";

const { GITHUB_SERVER_URL = "https://github.com", GITHUB_REPOSITORY = "" } = process.env;
const [owner, name] = GITHUB_REPOSITORY.split("/");
if (!owner || !name) throw new Error("GITHUB_REPOSITORY is not OWNER/NAME");

const url = `${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}`;
const manifest = JSON.parse(readFileSync("package.json", "utf8"));
const mcpName = `io.github.${owner}/${manifest.name}`;
write("package.json", {
  ...manifest,
  mcpName,
  repository: { type: "git", url: `git+${url}.git` },
  homepage: `${url}#readme`,
  bugs: { url: `${url}/issues` },
});

const server = JSON.parse(readFileSync("server.json", "utf8"));
const packages = server.packages.map((/** @type {object} */ one) => ({ ...one, version: manifest.version }));
const repository = { url, source: "github" };
write("server.json", { ...server, name: mcpName, version: manifest.version, repository, packages });

/**
 * @param {string} path
 * @param {object} value
 */
function write(path, value) {
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);
}
