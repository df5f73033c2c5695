import { setTimeout as sleep } from "node:timers/promises";
import { Cluster, type Member } from "./cluster.js";
import { query } from "./postgres.js";
import type { PostgresServer } from "./postgres-server.js";
import { KEY, until } from "./service.js";
import { ask, post } from "./wire.js";

export interface Load {
  /** How many processes are killed. */
  kills: number;
  /** After how many kills PostgreSQL is stopped and started, "fast" and "immediate" in turn; 0 for never. */
  restartEvery: number;
  server: PostgresServer | undefined;
}

export interface Losses {
  /** Acknowledged creates, to show that there was load. */
  acknowledged: number;
  missing: string[];
  endedNotOnce: string[];
  wentBack: string[];
  stoppedWithOutput: string[];
  /** Whose stop was acknowledged, and which are not STOPPED. */
  notStopped: string[];
}

const CLIENTS = 4;
const ROLES = ["api", "api", "worker", "worker", "all"] as const;
/** Takes 0.0 to 0.3 s. */
const RESEARCHER = "cat > /dev/null; sleep 0.$(( $$ % 4 )); echo done";

/** Remembers every change of a state; the database itself is the witness. */
const WITNESS = `
  CREATE TABLE changes (number serial, request_id uuid, before text, after text);
  CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO changes (request_id, before, after) VALUES (NEW.request_id, OLD.status, NEW.status);
    RETURN NEW;
  END $$;
  CREATE TRIGGER note AFTER UPDATE ON research.conversations FOR EACH ROW
    WHEN (OLD.status <> NEW.status) EXECUTE FUNCTION note();`;

/** Kills random processes under a stream of creates and stops, lets the rest end, and says what was lost. */
export async function killUnderLoad(database: string, load: Load): Promise<Losses> {
  const cluster = new Cluster(database, { lease: "1500ms", researcher: RESEARCHER });
  const acknowledged: string[] = [];
  const stopped: string[] = [];
  for (const role of ROLES) await cluster.add(role);
  await query(database, WITNESS);
  let over = false;
  const clients = Array.from({ length: CLIENTS }, () => client(cluster, acknowledged, stopped, () => over));
  for (let kill = 1; kill <= load.kills; kill++) {
    await sleep(Math.random() * 300);
    await killOne(cluster);
    if (load.restartEvery > 0 && kill % load.restartEvery === 0) {
      await load.server?.stop(kill % (2 * load.restartEvery) === 0 ? "fast" : "immediate");
      await load.server?.start();
    }
  }
  over = true;
  await Promise.all(clients);
  const unfinished = "SELECT FROM research.conversations WHERE completed_at IS NULL";
  await until(async () => ((await query(database, unfinished)).length === 0 ? true : undefined), 120_000);
  await cluster.close();
  return losses(database, acknowledged, stopped);
}

/** Another one takes its place at once. */
async function killOne(cluster: Cluster): Promise<void> {
  const members = [...cluster.members];
  const victim = members[Math.floor(Math.random() * members.length)] as Member;
  const replacement = cluster.add(victim.role);
  await sleep(Math.random() * 200);
  await cluster.end(victim, "SIGKILL");
  await replacement;
}

async function client(
  cluster: Cluster,
  acknowledged: string[],
  stopped: string[],
  over: () => boolean,
): Promise<void> {
  while (!over()) {
    const created = await post(cluster.api(Math.random()), "/api/v1/conversations", KEY, {
      prompt: "why?",
    }).catch(() => undefined);
    const id = created?.json.data?.request_id;
    if (typeof id !== "string") {
      await sleep(20);
      continue;
    }
    acknowledged.push(id);
    await ask(cluster.api(Math.random()), { path: `/api/v1/conversation/${id}/status`, key: KEY }).catch(
      () => {},
    );
    if (Math.random() > 0.3) continue;
    await sleep(Math.random() * 300);
    const answer = await post(cluster.api(Math.random()), `/api/v1/conversation/${id}/stop`, KEY).catch(
      () => undefined,
    );
    if (answer?.status === 200) stopped.push(id);
  }
}

async function losses(database: string, acknowledged: string[], stopped: string[]): Promise<Losses> {
  const ids = async (text: string, values: unknown[] = []) =>
    (await query(database, text, values)).map((row) => String(row.request_id));
  const rows = new Set(await ids("SELECT request_id FROM research.conversations"));
  const final = "('COMPLETED', 'FAILED', 'STOPPED')";
  return {
    acknowledged: acknowledged.length,
    missing: acknowledged.filter((id) => !rows.has(id)),
    endedNotOnce: await ids(
      `SELECT c.request_id FROM research.conversations c LEFT JOIN changes e
       ON e.request_id = c.request_id AND e.after IN ${final} GROUP BY c.request_id HAVING count(e.number) <> 1`,
    ),
    wentBack: await ids(
      `SELECT request_id FROM changes WHERE before IN ${final} OR after = 'PENDING'
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
