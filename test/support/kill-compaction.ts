import { existsSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { folderOnDisk } from "./folder.js";
import { start } from "./run.js";
import { KEY, until } from "./service.js";
import { ask, post } from "./wire.js";

/** Long enough that a few of them are worth a compaction. */
const PROMPT = "x".repeat(30_000);
const CLIENTS = 3;

/** What clients were told before the service was killed, and what another one on its folder says. */
export interface Losses {
  /** How many of the kills came in the middle of a compaction. */
  killed: number;
  acknowledged: number;
  /** Created or stopped, and not so any more. */
  lost: string[];
  /** Completed before, and without its output now. */
  withoutOutput: string[];
}

/** Kills a service on one folder `kills` times while it compacts its journal, under a stream of creates and stops. */
export async function killInCompaction(kills: number): Promise<Losses> {
  // In memory a compaction is over sooner, and fewer kills come in the middle of it.
  const dataDir = folderOnDisk();
  const expected = new Map<string, string>();
  let killed = 0;
  while (killed < kills) {
    const service = await serve(dataDir);
    const streams = Array.from({ length: CLIENTS }, () => creates(service.baseUrl, expected));
    // The draft of a compacted journal is there for as long as the compaction takes. The first compaction of a start may
    // come before any create: every second kill waits for one that was acknowledged.
    const enough = expected.size + 1 - (killed % 2);
    while (expected.size < enough || !existsSync(join(dataDir, "journal.ndjson.new"))) await turn();
    service.child.kill("SIGKILL");
    killed += 1;
    await Promise.all([...streams, service.done]);
  }
  const service = await serve(dataDir);
  const [lost, withoutOutput]: [string[], string[]] = [[], []];
  for (const [id, state] of expected) {
    const answer = await ask(service.baseUrl, { path: `/api/v1/conversation/${id}/status`, key: KEY });
    const now = String(answer.json.data?.status);
    if (state === "STOPPED" ? now !== "STOPPED" : now === "undefined") lost.push(`${id}: ${state}, ${now}`);
    if (state !== "COMPLETED") continue;
    const output = await ask(service.baseUrl, { path: `/api/v1/conversation/${id}/output`, key: KEY });
    if (output.json.data?.output !== "done") withoutOutput.push(`${id}: ${output.text}`);
  }
  service.child.kill("SIGTERM");
  await service.done;
  return { killed, acknowledged: expected.size, lost, withoutOutput };
}

async function serve(dataDir: string) {
  const args = ["serve", "--data", dataDir, "--port", "0", "--researcher", "printf done", "--workers", "2"];
  const running = start(args, { env: { RESEARCH_SERVE_API_KEY: KEY } });
  const baseUrl = await until(async () => /^http:\/\/\S+/m.exec(running.stdout)?.[0], 30_000);
  return Object.assign(running, { baseUrl });
}

/** Creates and stops one after another until the service is gone, and notes what was acknowledged. */
async function creates(baseUrl: string, expected: Map<string, string>): Promise<void> {
  try {
    for (;;) {
      const created = await post(baseUrl, "/api/v1/conversations", KEY, { prompt: PROMPT });
      const id = String(created.json.data?.request_id);
      expected.set(id, "CREATED");
      const stopped = await post(baseUrl, `/api/v1/conversation/${id}/stop`, KEY);
      if (stopped.status === 200) expected.set(id, "STOPPED");
      if (stopped.json.error?.code === "CONVERSATION_ALREADY_COMPLETED") expected.set(id, "COMPLETED");
    }
  } catch {
    // The service was killed.
  }
}
