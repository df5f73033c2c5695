// A report of 1 MB on a terminal: how long `output` takes to lay it out there, and how much memory.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { spawn } from "@lydell/node-pty";
import { NOTE_MEMORY, summary } from "./support/process.js";

const SECTION = `## Costs in the north

Heat pumps are **widely** adopted, see [the survey](https://survey.example/heat-pumps?year=2026) and \`three offers\`.
In *cold* climates the cost depends on the building, on its insulation, and on the offers that its owner asks for.

| Country | Cost in EUR | Remark |
|:--|--:|--|
| Germany | 12,000 | A rather long remark about subsidies that has to wrap on a narrow terminal |
| 日本 | 9,500 | 日本語の長い文章はどこでも改行できますが、句読点の前では改行しません。 |

1. Measure the building
   - *insulation*
   - windows
2. Ask for offers

> Insulation comes first, and the pump after it.

`;
const REPORT = SECTION.repeat(Math.floor(1_000_000 / Buffer.byteLength(SECTION)));
const RUNS = 5;

/**
 * Wall milliseconds of the whole command, and its largest resident size in MiB; each the median of five runs.
 * @param {string} program the path of bin/research.js
 */
export async function readingFigures(program) {
  const data = { request_id: "r-1", status: "COMPLETED", output: REPORT };
  const server = createServer((request, response) => {
    const body = JSON.stringify({ status: true, version: "1.0.0", data });
    request.resume().on("end", () => response.setHeader("content-type", "application/json").end(body));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const address = server.address();
  const port = address && typeof address === "object" ? address.port : 0;
  try {
    /** @type {{ ms: number, mib: number }[]} */
    const taken = [];
    for (let i = 0; i < RUNS; i++) taken.push(await read(program, `http://127.0.0.1:${port}`));
    return {
      ms: summary(taken.map(({ ms }) => ms)).median,
      mib: summary(taken.map(({ mib }) => mib)).median,
    };
  } finally {
    server.close();
  }
}

/**
 * @param {string} program
 * @param {string} baseUrl
 */
async function read(program, baseUrl) {
  const home = mkdtempSync(join(tmpdir(), "research-bench-"));
  const memory = join(home, "memory");
  try {
    const start = performance.now();
    const terminal = spawn(process.execPath, ["--import", NOTE_MEMORY, program, "output", "r-1"], {
      cols: 80,
      env: {
        ...{ PATH: process.env.PATH, HOME: home, TERM: "xterm-256color", BENCH_MEMORY: memory },
        ...{ RESEARCH_BASE_URL: baseUrl, RESEARCH_API_KEY: "sk-bench" },
      },
    });
    terminal.onData(() => {});
    const { exitCode } = await new Promise((resolve) => terminal.onExit(resolve));
    if (exitCode !== 0) throw new Error(`output ended with ${exitCode}`);
    return { ms: performance.now() - start, mib: Number(readFileSync(memory, "utf8")) / 1_024 };
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}
