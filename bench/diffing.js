// Two reports of 300 kB: how much processor time `diff` takes for them, against two of 150 kB and two short ones.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { summary } from "./support/process.js";

const RUNS = 5;
const SIZE = 300_000;
const PLACES = [
  "Oslo",
  "Porto",
  "Gdańsk",
  "Graz",
  "Lyon",
  "Bilbao",
  "Turku",
  "Brno",
  "Leeds",
  "Ghent",
  "Split",
];
const SUBJECTS = [
  "tram",
  "ferry",
  "library",
  "heat pump",
  "hospital",
  "harbour",
  "vineyard",
  "bridge",
  "school",
];

/** Writes the processor time (ms) that the process used to the file that the environment names. */
const NOTE_TIME = `data:text/javascript,${encodeURIComponent(
  `import fs from "node:fs";
  process.on("exit", () => {
    const { user, system } = process.cpuUsage();
    fs.writeFileSync(process.env.BENCH_TIME, String((user + system) / 1_000));
  });`,
)}`;

/**
 * Milliseconds of processor time of whole commands, the median of five: two reports of 300 kB without a sentence in common
 * (`all`), two of 150 kB (`half`), two of 300 kB with one new sentence in twenty (`weekly`), and two of one sentence (`none`).
 * @param {string} program the path of bin/research.js
 */
export function diffingFigures(program) {
  const home = mkdtempSync(join(tmpdir(), "research-bench-"));
  const pairs = {
    all: [writeReport(SIZE, () => 0), writeReport(SIZE, () => 1)],
    half: [writeReport(SIZE / 2, () => 0), writeReport(SIZE / 2, () => 1)],
    weekly: [writeReport(SIZE, () => 0), writeReport(SIZE, (i) => (i % 20 === 0 ? 1 : 0))],
    none: ["Oslo has 12 trams.\n", "Oslo has 13 trams.\n"],
  };
  /** @type {Record<string, number[]>} */
  const times = { all: [], half: [], weekly: [], none: [] };
  try {
    for (let i = 0; i < RUNS; i++)
      for (const [name, texts] of Object.entries(pairs)) times[name]?.push(measureDiff(program, home, texts));
    const median = (/** @type {string} */ name) => summary(times[name] ?? []).median;
    return { all: median("all"), half: median("half"), weekly: median("weekly"), none: median("none") };
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/**
 * @param {string} program
 * @param {string} home
 * @param {string[]} texts
 */
function measureDiff(program, home, texts) {
  const files = texts.map((text, i) => {
    writeFileSync(join(home, `${i}.md`), text);
    return `${i}.md`;
  });
  const time = join(home, "time");
  const { status, stderr } = spawnSync(process.execPath, ["--import", NOTE_TIME, program, "diff", ...files], {
    cwd: home,
    env: { PATH: process.env.PATH, HOME: home, BENCH_TIME: time },
    maxBuffer: 64 << 20,
  });
  if (status !== 15) throw new Error(`diff ended with ${status}: ${stderr}`);
  return Number(readFileSync(time, "utf8"));
}

/**
 * Returns a report with headings, prose, lists, tables and links. `week` returns how the figures and words of a sentence are varied.
 * @param {number} size
 * @param {(sentence: number) => number} week
 */
function writeReport(size, week) {
  let text = "";
  for (let i = 0; text.length < size; i++) {
    const [a, b, c] = [0, 1, 2].map((n) => writeSentence(4 * i + n, week(4 * i + n)));
    const [place, subject] = [PLACES[i % PLACES.length], SUBJECTS[i % SUBJECTS.length]];
    const cells = [0, 1, 2].map((n) => (i * 37 + n * 11 + week(4 * i + 3) * 5) % 997);
    text += `## ${place}: ${subject} ${i}\n\n${a} ${b}\n\n- ${c}\n- See [the survey](https://s.example/${i}).\n\n`;
    text += `| Year | Visitors (thousands) | Cost in € |\n|--|--:|--:|\n| ${1990 + (i % 35)} | ${cells.join(" | ")} |\n\n`;
  }
  return text;
}

/**
 * @param {number} i
 * @param {number} week
 */
function writeSentence(i, week) {
  const at = (/** @type {string[]} */ words, n = 0) => words[(i * 7 + n + week * 3) % words.length];
  const [count, share] = [(i * 7919 + week * 641) % 90_000, ((i * 31 + week * 17) % 900) / 10];
  return `In ${at(PLACES)} the ${at(SUBJECTS)} of district ${i} served ${count.toLocaleString("en")} people, about ${share} % of those who ${week ? "came from" : "lived in"} ${at(PLACES, 5)} [${(i % 9) + 1}].`;
}
