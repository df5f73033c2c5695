import { chmodSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { StoreUnavailableError } from "../../../src/server/conversations/conversation-store.js";
import { folderWith } from "../../support/folder.js";
import { endConnections, lockOf, query, testPostgres } from "../../support/postgres.js";
import { PostgresProxy } from "../../support/postgres-proxy.js";
import { callerOf, closeStores, newJob, storeAt } from "../../support/postgres-store.js";
import { research, start } from "../../support/run.js";
import { KEY, until } from "../../support/service.js";
import { ask, post } from "../../support/wire.js";

/** The server lets `guest` in with a password only. */
const folder = folderWith({ hba: "local all research trust\nlocal all all scram-sha-256\n" });
chmodSync(folder, 0o755);
chmodSync(join(folder, "hba"), 0o644);
const { postgres, newDatabase } = await testPostgres([`hba_file=${join(folder, "hba")}`]);

afterEach(closeStores);

describe.skipIf(!postgres?.server)("connections of a process (needs its own PostgreSQL)", () => {
  it("are never more than it may have, and none waits for a lock whose client has gone", async () => {
    const url = await newDatabase();
    const store = await storeAt(url, { connections: 5 });
    const job = newJob();
    await store.create(callerOf(), job);
    const locker = await lockOf(url, "conversations");
    const asked = Array.from({ length: 30 }, (_, i) =>
      i % 2
        ? store.create(callerOf(`key-${i}`, 10), newJob())
        : store.get(callerOf(), job.request_id.replace(/^./, (i % 16).toString(16))),
    );
    const reasons = Promise.all(asked.map((one) => one.then(String, (error) => error)));
    const open =
      "SELECT FROM pg_stat_activity WHERE application_name = 'research' AND datname = current_database()";
    let most = 0;
    let answered: unknown[] | undefined;
    void reasons.then((all) => {
      answered = all;
    });
    await until(async () => {
      most = Math.max(most, (await query(url, open)).length);
      return answered;
    });
    for (const reason of answered ?? []) expect(reason).toBeInstanceOf(StoreUnavailableError);
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThanOrEqual(5);
    await locker.end();
    expect(await store.get(callerOf(), job.request_id)).toMatchObject({ requestId: job.request_id });
  });

  it("include one for the question whether it is ready, which waits for nothing else", async () => {
    const url = await newDatabase();
    const store = await storeAt(url, { role: "api", connections: 5 });
    await store.create(callerOf("a", 9), newJob());
    // A client for each lock: a create that waits for the counters may hold a lock on the conversations, and with one
    // client for both that is a deadlock.
    const counters = await lockOf(url, "counters");
    const creates = Array.from({ length: 9 }, () => store.create(callerOf("a", 9), newJob()).catch(() => {}));
    const stops = Array.from({ length: 9 }, () => store.stop(callerOf("a", 9), "x").catch(() => {}));
    await until(async () => {
      const { connections, connectionsWaiting } = store.figures;
      return (connections === 2 && connectionsWaiting > 0) || undefined;
    });
    await store.checkReady();
    const conversations = await lockOf(url, "conversations");
    await expect(store.checkReady()).rejects.toThrow(StoreUnavailableError);
    await Promise.all([counters.end(), conversations.end()]);
    await Promise.all([...creates, ...stops]);
    await query(
      url,
      `ALTER DATABASE ${new URL(url).pathname.slice(1)} SET default_transaction_read_only = on`,
    );
    await endConnections(url);
    await until(() =>
      store.checkReady().then(
        () => true,
        () => undefined,
      ),
    );
    await expect(store.create(callerOf(), newJob())).rejects.toThrow(StoreUnavailableError);
  });

  it("to a database that falls silent do not keep a process that is told to end", async () => {
    const proxy = new PostgresProxy(await newDatabase());
    const env = { RESEARCH_SERVE_API_KEY: KEY, RESEARCH_SERVE_DATABASE: proxy.url };
    const process = start(["serve", "--port", "0", "--researcher", "sleep 300"], { env });
    const [baseUrl = ""] = await process.waitFor(/http:\S+/);
    const create = () => post(baseUrl, "/api/v1/conversations", KEY, { prompt: "why?" });
    const id = (await create()).json.data?.request_id;
    const status = { path: `/api/v1/conversation/${id}/status`, key: KEY };
    await until(async () => (await ask(baseUrl, status)).json.data?.status === "PROCESSING" || undefined);
    proxy.silence();
    const waiting = create().catch(() => {});
    process.signal("SIGTERM");
    expect((await process.done).code).toBe(0);
    await waiting;
  });

  it("without the password that the server wants: a sentence, and the process ends", async () => {
    const url = new URL(await newDatabase());
    await query(url.href, "CREATE ROLE guest LOGIN PASSWORD 'hunter2'");
    url.username = "guest";
    const env = { RESEARCH_SERVE_API_KEY: KEY };
    for (const args of [
      ["serve", "--port", "0"],
      ["serve", "keys", "list"],
    ]) {
      const { code, stderr } = await research([...args, "--database", url.href], { env });
      expect(stderr).toContain("it asks for a password, and PGPASSWORD is not set");
      expect(code).toBe(12);
    }
  });
});
