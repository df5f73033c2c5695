import { TIERS } from "../../../protocol/limits.js";
import type { Topic } from "../topic.js";

const tiers = Object.entries(TIERS).map(([name, { create, stop }]) => {
  const count = (value: number) => (Number.isFinite(value) ? String(value) : "custom");
  return `  ${name.padEnd(12)}${count(create).padStart(6)}  ${count(stop).padStart(6)}\n`;
});

export const limits: Topic = {
  name: "limits",
  summary: "the hourly limits, and how to stay below them",
  text: `The service counts creates and stops of a key in an hour:

  tier        creates   stops
${tiers.join("")}
One too many is answered with 429: exit code 7, and nothing was created. The
error says in how many seconds the next one is allowed (\`retry_after\`).

\`research quota\` says how much of the hour is left. It counts this machine's own
records, refused creates and unknown outcomes included; what other machines
send with the same key is not in it.

--tier or --per-hour, or the setting \`tier\`, keeps \`create\`, \`run\`, \`rerun\` and
\`batch\` below the limit: they end with 7 before anything is sent, or wait for
the hour with --wait-for-quota. \`batch\` always waits. --shard 2/8 takes one
eighth of the rows and of the limit.
`,
};
