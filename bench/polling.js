#!/usr/bin/env node
// How late an end is seen, against how many polls that takes: a simulation of the poll intervals in src/client/calls beside the
// fixed and doubling intervals one would write instead. Nothing is timed; the same seed gives the same table.
import { pathToFileURL } from "node:url";
import { fixedWith, logNormal, seeded, simulate } from "./support/runs.js";
import { source } from "./support/source.js";

const COUNT = 20_000;
const SHAPES = [
  { name: "median 4 min, 95th percentile 25 min", median: 240_000, p95: 1_500_000 },
  { name: "median 10 s, 95th percentile 30 s", median: 10_000, p95: 30_000 },
];

/** The table of the simulation as Markdown. */
export async function pollingTable() {
  const { computeAdaptiveInterval, learnPollInterval } = await source(
    "src/client/calls/watch/poll-interval.ts",
  );
  const parts = [];
  for (const { name, ...shape } of SHAPES) {
    const random = seeded(20_261_120);
    const lengths = logNormal({ count: COUNT, ...shape }, random);
    const known = logNormal({ count: 200, ...shape }, random);
    /** @type {[string, (ageMs: number, random: number, poll: number) => number][]} */
    const intervals = [
      ...[2, 3, 5, 10, 45].map(
        (seconds) => /** @type {[string, () => number]} */ ([`fixed ${seconds} s`, () => seconds * 1_000]),
      ),
      ["doubling, 2 to 30 s", (_age, _random, poll) => Math.min(2_000 * 2 ** (poll - 1), 30_000)],
      ["ours: a twentieth of the age", computeAdaptiveInterval],
      ["ours: 200 runs known", learnPollInterval(known)],
    ];
    const rows = intervals.map(([label, interval]) => {
      const { polls, lagSeconds, share } = simulate(interval, lengths, random);
      const fixed = fixedWith(polls, lengths, random);
      const cells = [label, polls.toFixed(1), `${lagSeconds.toFixed(2)} s`, `${(share * 100).toFixed(2)} %`];
      return `| ${[...cells, (share / fixed.share).toFixed(2)].join(" | ")} |`;
    });
    const head = `Runs with ${name}:\n\n| interval | polls | mean lag | mean lag / length | ÷ fixed with as many polls |\n|---|---:|---:|---:|---:|`;
    parts.push(`${head}\n${rows.join("\n")}\n`);
  }
  return parts.join("\n");
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  process.stdout.write(await pollingTable());
}
