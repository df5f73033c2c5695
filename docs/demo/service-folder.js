import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const MINUTE = 60_000;
const RESULT = `Each key has its own hour, and the hour rolls (§8). The create that exceeds it is refused:

> When the create limit is exceeded, the service answers 429 \`RATE_LIMIT_EXCEEDED\`.

| tier | creates | stops |
|---|---|---|
| Free | 10 | 20 |
| Pro | 100 | 200 |
`;
/** Question, key, age, time in PENDING and in PROCESSING, all in minutes, and the last state. */
const CONVERSATIONS = [
  ["Which requests need an Authorization header?", "alice", 2.2, 0, 0, "PENDING"],
  ["What does every answer of the service carry?", "team", 3.1, 0, 0, "PENDING"],
  ["Compare the limits of the three tiers, with sources", "alice", 4.4, 0, 0, "PENDING"],
  ["What happens when the hourly limit of a key is exceeded?", "alice", 12, 0.4, 3.2, "COMPLETED"],
  ["How is a structured result asked for?", "team", 17, 0.2, 1.1, "FAILED"],
  ["Which states may a conversation be stopped from?", "alice", 26, 0.1, 4.7, "COMPLETED"],
  ["Summarize all pages of the handbook", "team", 33, 0.3, 6.4, "STOPPED"],
  ["Who may see the result of a conversation?", "team", 41, 0.1, 2.5, "COMPLETED"],
];
/** When each key created others that were deleted since, in minutes. */
const COUNTED = {
  alice: [5, 21, 38, 39, 46, 57],
  team: [...Array.from({ length: 34 }, (_, n) => 3 + ((n * 7) % 41)), ...[19, 19, 19, 20, 20, 34, 34, 35]],
};

/**
 * Fills the data folder of a service with what a morning of work has left.
 *
 * @param {string} folder
 * @param {Record<string, string>} keys API keys by name
 * @param {number} now epoch ms
 */
export function fillServiceFolder(folder, keys, now) {
  const idOf = (/** @type {string} */ name) => sha256(keys[name] ?? "").slice(0, 16);
  /** @type {object[]} */
  const entries = [];
  for (const [index, [prompt, name, age, pending, processing, status]] of CONVERSATIONS.entries()) {
    const at = Math.round(now - Number(age) * MINUTE);
    const request_id = `3f2a91c4-8d70-4b6e-9a15-0c7be2d4f6${10 + index}`;
    const job = { request_id, prompt, structured_output: false };
    entries.push({ kind: "created", job, key: idOf(String(name)), at });
    if (status === "PENDING") continue;
    const started_at = Math.round(at + Number(pending) * MINUTE);
    const ended_at = Math.round(started_at + Number(processing) * MINUTE);
    const reason = status === "FAILED" ? { reason: "The sources say nothing of the field price." } : {};
    entries.push({ kind: "ended", request_id, status, started_at, ended_at, ...reason });
    writeText(join(folder, "ended-jobs"), request_id, JSON.stringify(job));
    if (status === "COMPLETED") writeText(join(folder, "outputs"), request_id, JSON.stringify(RESULT));
  }
  for (const [name, ages] of Object.entries(COUNTED))
    for (const age of ages)
      entries.push({ kind: "counted", operation: "create", key: idOf(name), at: now - age * MINUTE });
  const byTime = entries.sort((a, b) => timeOf(a) - timeOf(b));
  writeFileSync(join(folder, "format"), "1\n");
  writeFileSync(join(folder, "journal.ndjson"), byTime.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
}

/** @type {(entry: { at?: number, ended_at?: number }) => number} */
function timeOf({ at, ended_at }) {
  return at ?? ended_at ?? 0;
}

/** @type {(folder: string, name: string, text: string) => void} */
function writeText(folder, name, text) {
  const shard = join(folder, sha256(name).slice(0, 2));
  mkdirSync(shard, { recursive: true });
  writeFileSync(join(shard, name), text);
}

/** @type {(text: string) => string} */
function sha256(text) {
  return createHash("sha256").update(text).digest("hex");
}
