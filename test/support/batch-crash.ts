import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { folderWith } from "./folder.js";
import { HappyService } from "./happy-service.js";
import { type RunResult, start } from "./run.js";
import { jsonLines } from "./world.js";

const ROWS = 30;
/** By then the program is up, and by then a batch of this size has about ended, in milliseconds. */
const [EARLIEST, LATEST] = [50, 2_500];

export interface CrashedBatch {
  /** How often the service saw each prompt whole. */
  seen: Map<string, number>;
  /** The prompts whose outcome is unknown after all. */
  unknown: string[];
  /** The text of each result, by prompt. */
  results: Map<string, string>;
  /** Files in the folder that are no results. */
  odd: string[];
  last: RunResult;
  kills: number;
}

/** Kills a batch of 30 rows at each of these moments (in [0, 1)), the same command each time, and then lets it end. */
export async function crashBatch(moments: readonly number[]): Promise<CrashedBatch> {
  // Most of a batch's time is spent waiting for creates, so that is when most of the blows fall.
  const service = await HappyService.start({ createMs: 20 });
  const home = folderWith();
  const out = join(home, "out");
  const file = join(home, "q.txt");
  const prompts = Array.from({ length: ROWS }, (_, i) => `question ${i + 1} => PROCESSING COMPLETED`);
  mkdirSync(out);
  writeFileSync(file, prompts.map((prompt) => `${prompt}\n`).join(""));
  const begin = () =>
    start(["batch", file, "--out", out, "--interval", "50ms"], { home, env: service.env, timeoutMs: 60_000 });
  let kills = 0;
  for (const moment of moments) {
    const running = begin();
    await Promise.race([running.done, delay(EARLIEST + moment * (LATEST - EARLIEST))]);
    if (running.child.exitCode === null) kills++;
    running.kill("SIGKILL");
    await running.done;
  }
  const last = await begin().done;
  await service.server.close();
  const seen = new Map<string, number>();
  for (const request of service.server.of("create")) {
    if (!request.whole) continue;
    const { prompt } = JSON.parse(request.body.toString("utf8"));
    seen.set(prompt, (seen.get(prompt) ?? 0) + 1);
  }
  const listed = jsonLines(readFileSync(join(out, "results.jsonl"), "utf8")) as unknown as Listed[];
  const completed = listed.filter(({ status }) => status === "COMPLETED");
  const files = new Set(completed.map(({ file: name }) => name));
  return {
    ...{ seen, last, kills },
    unknown: listed.filter(({ status }) => status === "UNKNOWN").map(({ prompt }) => prompt),
    results: new Map(
      completed.map(({ prompt, file: name }) => [prompt, readFileSync(join(out, name), "utf8")]),
    ),
    odd: readdirSync(out).filter(
      (name) => !files.has(name) && name !== "results.jsonl" && name !== ".research-batch",
    ),
  };
}

interface Listed {
  prompt: string;
  status: string;
  file: string;
}

/** What is wrong after that; nothing, if no row is lost and none was sent twice. */
export function batchLosses({ seen, unknown, results, odd, last }: CrashedBatch): string[] {
  const wrong: string[] = [];
  if (results.size + unknown.length !== ROWS)
    wrong.push(`${results.size} results and ${unknown.length} unknown`);
  if (last.code !== (unknown.length > 0 ? 11 : 0)) wrong.push(`exit ${last.code}: ${last.stderr}`);
  for (const [prompt, count] of seen) if (count !== 1) wrong.push(`"${prompt}" was sent ${count} times`);
  for (const [prompt, text] of results) {
    if (text !== `An answer to: ${prompt}`)
      wrong.push(`the result of "${prompt}" is ${JSON.stringify(text)}`);
    if (seen.get(prompt) !== 1) wrong.push(`a result for "${prompt}" from nowhere`);
  }
  if (odd.length > 0) wrong.push(`left behind: ${odd.join(", ")}`);
  return wrong;
}
