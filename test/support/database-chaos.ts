import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { Cluster, type Member, type Role } from "./cluster.js";
import { endConnections, query } from "./postgres.js";
import { PostgresProxy } from "./postgres-proxy.js";
import type { PostgresServer } from "./postgres-server.js";
import { KEY, until } from "./service.js";
import { ask, post } from "./wire.js";

/** What happens meanwhile; the times are far longer or shorter than a lease, a lock's wait and a pause of a client. */
export type Fault = keyof typeof FAULTS;

export interface Losses {
  /** Acknowledged creates, to show that there was load. */
  acknowledged: number;
  missing: string[];
  /** What one request created more than once. */
  doubled: string[];
  /** What exists although its client was told that nothing was done. */
  refused: string[];
  endedNotOnce: string[];
  wentBack: string[];
  stoppedWithOutput: string[];
  /** Whose stop was acknowledged, and which are not STOPPED. */
  notStopped: string[];
}

/** Who asks, and who answers. */
interface Size {
  clients: number;
  roles: readonly Role[];
}

const LARGE: Size = { clients: 4, roles: ["api", "api", "worker", "worker", "all"] };
/** Takes 0.0 to 0.3 s. */
const RESEARCHER = "cat > /dev/null; sleep 0.$(( $$ % 4 )); echo done";
const LEASE_MS = 1_500;

/** Remembers every row and every change of a state; the database itself is the witness. */
const WITNESS = `
  CREATE TABLE changes (number serial, request_id uuid, prompt text, before text, after text);
  CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO changes (request_id, prompt, before, after)
    VALUES (NEW.request_id, NEW.job::json->>'prompt', CASE TG_OP WHEN 'UPDATE' THEN OLD.status END, NEW.status);
    RETURN NEW;
  END $$;
  CREATE TRIGGER note_insert AFTER INSERT ON research.conversations FOR EACH ROW EXECUTE FUNCTION note();
  CREATE TRIGGER note_update AFTER UPDATE ON research.conversations FOR EACH ROW
    WHEN (OLD.status <> NEW.status) EXECUTE FUNCTION note();`;

interface Scene {
  cluster: Cluster;
  /** Of the database, and of what stands before it for the cluster. */
  database: string;
  proxy: PostgresProxy;
  server: PostgresServer | undefined;
  random: () => number;
}

const FAULTS = {
  /** As a deployment does. */
  async replace({ cluster, random }: Scene) {
    const victim = anyOf(cluster, random);
    await cluster.add(victim.role);
    await cluster.end(victim, "SIGTERM");
  },
  async kill({ cluster, random }: Scene) {
    const victim = anyOf(cluster, random);
    // Another one takes its place at once.
    const replacement = cluster.add(victim.role);
    await sleep(random() * 200);
    await cluster.end(victim, "SIGKILL");
    await replacement;
  },
  async suspend({ cluster, random }: Scene) {
    const { process } = anyOf(cluster, random);
    process.signal("SIGSTOP");
    await sleep(2 * LEASE_MS);
    process.signal("SIGCONT");
  },
  async restart({ server, random }: Scene) {
    await server?.stop(random() < 0.5 ? "fast" : "immediate");
    await server?.start();
  },
  async cut({ proxy, random }: Scene) {
    await proxy.away();
    await sleep(random() * 2 * LEASE_MS);
    proxy.back();
  },
  async halt({ proxy, random }: Scene) {
    proxy.silence();
    await sleep(random() * 20_000);
    proxy.back();
  },
  async terminate({ database }: Scene) {
    await endConnections(database);
  },
  async lock({ database, random }: Scene) {
    const client = new pg.Client({ connectionString: database });
    await client.connect();
    await client.query("BEGIN; LOCK TABLE research.conversations IN ACCESS EXCLUSIVE MODE");
    await sleep(random() * 8_000);
    await client.query("COMMIT");
    await client.end();
  },
  async readOnly({ database, random }: Scene) {
    const name = new URL(database).pathname.slice(1);
    await query(database, `ALTER DATABASE ${name} SET default_transaction_read_only = on`);
    await endConnections(database);
    await sleep(random() * 2_000);
    await query(database, `SET TRANSACTION READ WRITE; ALTER DATABASE ${name} RESET ALL`);
    await endConnections(database);
  },
};

/**
 * Lets the faults, or what the caller does, happen one after the other to processes of these roles under a stream of creates and stops, lets all
 * end, and says what was lost. `random` draws the moments.
 */
export async function chaos(
  database: string,
  server: PostgresServer | undefined,
  faults: Iterable<Fault | (() => Promise<void>)>,
  random: () => number,
  { clients, roles } = LARGE,
): Promise<Losses> {
  const proxy = new PostgresProxy(database);
  const cluster = new Cluster(proxy.url, { lease: `${LEASE_MS}ms`, researcher: RESEARCHER });
  const heard: Heard = { acknowledged: new Map(), stopped: [], refused: [] };
  for (const role of roles) await cluster.add(role);
  await query(database, WITNESS);
  let over = false;
  const asking = Array.from({ length: clients }, (_, number) =>
    client({ cluster, number, random }, heard, () => over),
  );
  for (const fault of faults) {
    await sleep(random() * 300);
    if (typeof fault === "function") await fault();
    else await FAULTS[fault]({ cluster, database, proxy, server, random });
  }
  over = true;
  await Promise.all(asking);
  const unfinished = "SELECT FROM research.conversations WHERE completed_at IS NULL";
  await until(async () => ((await query(database, unfinished)).length === 0 ? true : undefined), 120_000);
  await cluster.close();
  return losses(database, heard);
}

function anyOf({ members }: Cluster, random: () => number): Member {
  return [...members][Math.floor(random() * members.size)] as Member;
}

/** What clients were told. */
interface Heard {
  /** Prompts by the id that was answered. */
  acknowledged: Map<string, string>;
  stopped: string[];
  /** Prompts whose create was answered with an error. */
  refused: string[];
}

async function client(
  { cluster, number, random }: { cluster: Cluster; number: number; random: () => number },
  heard: Heard,
  over: () => boolean,
): Promise<void> {
  for (let turn = 0; !over(); turn++) {
    const prompt = `${number}-${turn}`;
    const request = post(cluster.api(random()), "/api/v1/conversations", KEY, { prompt });
    const created = await request.catch(() => undefined);
    const id = created?.json.data?.request_id;
    if (typeof id !== "string") {
      if (created !== undefined) heard.refused.push(prompt);
      await sleep(20);
      continue;
    }
    heard.acknowledged.set(id, prompt);
    const path = `/api/v1/conversation/${id}`;
    await ask(cluster.api(random()), { path: `${path}/status`, key: KEY }).catch(() => {});
    if (random() > 0.3) continue;
    await sleep(random() * 300);
    const answer = await post(cluster.api(random()), `${path}/stop`, KEY).catch(() => undefined);
    if (answer?.status === 200) heard.stopped.push(id);
  }
}

async function losses(database: string, { acknowledged, stopped, refused }: Heard): Promise<Losses> {
  const ids = async (text: string, values: unknown[] = []) =>
    (await query(database, text, values)).map((row) => String(row.request_id));
  const rows = new Set(await ids("SELECT request_id FROM research.conversations"));
  const final = "('COMPLETED', 'FAILED', 'STOPPED')";
  const made = "SELECT prompt AS request_id FROM changes WHERE before IS NULL";
  return {
    acknowledged: acknowledged.size,
    missing: [...acknowledged.keys()].filter((id) => !rows.has(id)),
    doubled: await ids(`${made} GROUP BY prompt HAVING count(*) > 1`),
    refused: await ids(`${made} AND prompt = ANY ($1)`, [refused]),
    endedNotOnce: await ids(
      `SELECT c.request_id FROM research.conversations c LEFT JOIN changes e
       ON e.request_id = c.request_id AND e.after IN ${final} GROUP BY c.request_id HAVING count(e.number) <> 1`,
    ),
    wentBack: await ids(
      `SELECT request_id FROM changes WHERE before IN ${final} OR (after = 'PENDING' AND before IS NOT NULL)
       OR (before = 'PENDING' AND after NOT IN ('PROCESSING', 'STOPPED'))`,
    ),
    stoppedWithOutput: await ids(
      "SELECT request_id FROM research.conversations WHERE status = 'STOPPED' AND output IS NOT NULL",
    ),
    notStopped: await ids(
      "SELECT request_id FROM research.conversations WHERE request_id = ANY ($1) AND status <> 'STOPPED'",
      [stopped],
    ),
  };
}
