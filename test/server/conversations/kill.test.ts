import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { folderWith } from "../../support/folder.js";
import { start } from "../../support/run.js";
import { KEY, until } from "../../support/service.js";
import { ask, post } from "../../support/wire.js";

/** Each one starts a whole process. */
const ROUNDS = 4;
const CLIENTS = 4;

it("kill -9 under a stream of creates: each acknowledged id is there after the restart, none twice", async () => {
  const dataDir = folderWith();
  const acknowledged: string[] = [];
  let last = "";
  for (let round = 0; round < ROUNDS; round++) {
    const service = await serve(dataDir);
    if (last !== "") expect(await stateOf(service.baseUrl, last)).toBe("PENDING");
    const before = acknowledged.length;
    const streams = Array.from({ length: CLIENTS }, () => creates(service.baseUrl, acknowledged));
    await until(async () => acknowledged.length > before + 3 * round || undefined);
    service.child.kill("SIGKILL");
    await Promise.all([...streams, service.done]);
    last = acknowledged.at(-1) ?? "";
  }
  const service = await serve(dataDir);
  for (const id of acknowledged) expect(await stateOf(service.baseUrl, id)).toBe("PENDING");
  service.child.kill("SIGTERM");
  expect((await service.done).code).toBe(0);
  expect(new Set(acknowledged).size).toBe(acknowledged.length);
  const lines = readFileSync(join(dataDir, "journal.ndjson"), "utf8").split("\n");
  for (const id of acknowledged)
    expect(lines.filter((line) => line.includes(`"request_id":"${id}"`))).toHaveLength(1);
});

async function serve(dataDir: string) {
  const args = ["serve", "--data", dataDir, "--port", "0", "--pending", "1h", "--sources", dataDir];
  const running = start(args, { env: { RESEARCH_SERVE_API_KEY: KEY } });
  const baseUrl = await until(async () => /^http:\/\/\S+/m.exec(running.stdout)?.[0]);
  return Object.assign(running, { baseUrl });
}

/** Creates one after another until the service is gone. */
async function creates(baseUrl: string, acknowledged: string[]): Promise<void> {
  for (;;) {
    const answer = await post(baseUrl, "/api/v1/conversations", KEY, { prompt: "x" }).catch(() => undefined);
    if (answer === undefined) return;
    expect(answer.status).toBe(200);
    acknowledged.push(String(answer.json.data?.request_id));
  }
}

async function stateOf(baseUrl: string, id: string) {
  return (await ask(baseUrl, { path: `/api/v1/conversation/${id}/status`, key: KEY })).json.data?.status;
}
