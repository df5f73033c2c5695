import type { AddressInfo } from "node:net";
import { connect, createServer, type Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { Cluster } from "../../support/cluster.js";
import { folderWith } from "../../support/folder.js";
import { research } from "../../support/in-process.js";
import { leftovers } from "../../support/leftovers.js";
import { query } from "../../support/postgres.js";
import { KEY, until } from "../../support/service.js";
import { sharedPostgres } from "../../support/shared-postgres.js";

const { postgres, newDatabase } = await sharedPostgres();

const CLIENTS = 3;

/** A proxy for connections, as in compose.yaml: one that an API refuses goes to another. Prints nothing. */
async function proxyTo(cluster: Cluster): Promise<string> {
  let turn = 0;
  const pass = (client: Socket, triesLeft: number) => {
    const apis = [...cluster.members].filter(({ role }) => role === "api");
    const target = apis[turn++ % Math.max(1, apis.length)];
    const server = connect(Number(new URL(target?.baseUrl ?? "http://127.0.0.1:1").port), "127.0.0.1");
    let connected = false;
    server.once("connect", () => {
      connected = true;
      client.pipe(server).pipe(client);
    });
    server.on("error", () => {
      if (connected || triesLeft === 0) client.destroy();
      else setTimeout(() => pass(client, triesLeft - 1), 50);
    });
    server.on("close", () => connected && client.destroy());
    client.once("close", () => server.destroy());
  };
  const proxy = createServer((client) =>
    pass(
      client.on("error", () => {}),
      100,
    ),
  );
  leftovers.add(() => proxy.close());
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
}

describe.skipIf(!postgres)("a rolling restart (needs PostgreSQL)", () => {
  it("of an API and a worker: no error at any client, nothing lost, nothing doubled", {
    timeout: 240_000,
  }, async () => {
    const url = await newDatabase();
    const cluster = new Cluster(url, { lease: "20s", researcher: "cat > /dev/null; sleep 0.3; echo done" });
    for (const role of ["api", "worker"] as const) await cluster.add(role);
    const baseUrl = await proxyTo(cluster);
    const env = { RESEARCH_BASE_URL: baseUrl, RESEARCH_API_KEY: KEY };
    let over = false;
    let runs = 0;
    const client = async () => {
      const home = folderWith();
      while (!over) {
        const ended = await research(["run", "why?"], { env, home });
        expect(ended).toMatchObject({ code: 0, stdout: "done\n" });
        expect(ended.stderr).not.toMatch(/error|trouble|retry/i);
        runs += 1;
      }
    };
    const clients = Array.from({ length: CLIENTS }, client);
    for (const member of [...cluster.members]) {
      await cluster.add(member.role);
      await cluster.end(member, "SIGTERM");
    }
    // On a busy machine the restarts can be over before a client has asked again.
    await Promise.race([Promise.all(clients), until(async () => runs > CLIENTS || undefined)]);
    over = true;
    await Promise.all(clients);
    await cluster.close();
    const rows = await query(url, "SELECT status, starts FROM research.conversations");
    expect(rows).toEqual(Array.from({ length: runs }, () => ({ status: "COMPLETED", starts: 1 })));
  });
});
