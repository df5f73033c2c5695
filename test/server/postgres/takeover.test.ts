import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { Cluster, type Member } from "../../support/cluster.js";
import { folderWith } from "../../support/folder.js";
import { query } from "../../support/postgres.js";
import { KEY, until } from "../../support/service.js";
import { sharedPostgres } from "../../support/shared-postgres.js";
import { ask, post } from "../../support/wire.js";

const { postgres, newDatabase } = await sharedPostgres();

const LEASE_MS = 2_000;
let cluster: Cluster;
afterEach(() => cluster.close());

/** Each start writes a line; the first one waits until there is a file "go", later ones end at once. */
function researcherIn(folder: string): string {
  return `cat > /dev/null; echo start >> ${folder}/starts
    if [ $(wc -l < ${folder}/starts) -eq 1 ]; then
      until [ -e ${folder}/go ]; do sleep 0.05; done; echo first
    else echo second; fi`;
}

async function create(baseUrl: string): Promise<string> {
  const answer = await post(baseUrl, "/api/v1/conversations", KEY, { prompt: "why?" });
  return String(answer.json.data?.request_id);
}

async function dataOf(baseUrl: string, id: string, operation: "status" | "output") {
  return (await ask(baseUrl, { path: `/api/v1/conversation/${id}/${operation}`, key: KEY })).json.data;
}

const reached = (baseUrl: string, id: string, status: string) =>
  until(async () => {
    const data = await dataOf(baseUrl, id, "status");
    return data?.status === status || undefined;
  });

/** PROCESSING is written before the researcher starts. */
const started = (folder: string) => until(async () => existsSync(join(folder, "starts")) || undefined);

describe.skipIf(!postgres)("a worker that is lost (needs PostgreSQL)", () => {
  async function pair(): Promise<{ url: string; baseUrl: string; worker: Member; folder: string }> {
    const [url, folder] = [await newDatabase(), folderWith()];
    cluster = new Cluster(url, { lease: `${LEASE_MS}ms`, researcher: researcherIn(folder) });
    const { baseUrl } = await cluster.add("api");
    return { url, baseUrl, worker: await cluster.add("worker"), folder };
  }

  it("killed: another one takes over when its lease has run out", async () => {
    const { baseUrl, worker, folder } = await pair();
    const id = await create(baseUrl);
    await reached(baseUrl, id, "PROCESSING");
    await started(folder);
    await cluster.add("worker");
    await cluster.end(worker, "SIGKILL");
    await reached(baseUrl, id, "COMPLETED");
    expect(await dataOf(baseUrl, id, "output")).toMatchObject({ output: "second\n" });
  });

  it("asleep past its lease and woken: its end is refused, and it goes on with other work", async () => {
    const { url, baseUrl, worker, folder: starts } = await pair();
    const id = await create(baseUrl);
    await reached(baseUrl, id, "PROCESSING");
    await started(starts);
    const [first] = await query(url, "SELECT worker FROM research.conversations");
    worker.process.signal("SIGSTOP");
    const folder = folderWith();
    const other = new Cluster(url, { lease: `${LEASE_MS}ms`, researcher: `echo other; ls ${folder}` });
    try {
      const awake = await other.add("worker");
      await reached(baseUrl, id, "COMPLETED");
      await other.end(awake, "SIGTERM");
    } finally {
      await other.close();
    }
    worker.process.signal("SIGCONT");
    const next = await create(baseUrl);
    await reached(baseUrl, next, "COMPLETED");
    expect(await dataOf(baseUrl, id, "output")).toMatchObject({ output: "other\n" });
    expect(await dataOf(baseUrl, next, "output")).toMatchObject({ output: "second\n" });
    expect(await query(url, "SELECT FROM research.processes WHERE id = $1", [first?.worker])).toEqual([]);
  });
});
