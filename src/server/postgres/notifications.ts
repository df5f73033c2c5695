import { once } from "node:events";
import type { Clock } from "../../core/clock.js";
import { type Database, readSql } from "./database.js";

/** The interval between two connection attempts, ms. */
const RECONNECT_MS = 250;
/** SQLSTATEs of a database without LISTEN. Workers then poll for work, and learn of stops at a renewal. */
const NOT_OFFERED = /^(?:0A|42)/;

/** payload */
const NOTIFY = readSql("notify")`SELECT pg_notify('research', $1)`;

/** The payload is the id of this process, and asks one other worker to look for work. */
const NOTIFY_WORKER = readSql("notify-worker")`
  SELECT pg_notify('research', 'work ' || id) FROM (
    SELECT id FROM research.processes WHERE role <> 'api' AND expires_at > now() AND id <> $1 ORDER BY random() LIMIT 1
  ) AS one`;

/** Asks one other worker to look for work. */
export async function notifyWorker(database: Database, self: string): Promise<void> {
  await database.read(NOTIFY_WORKER, [self]).catch(() => {});
}

/** Notifies the listening processes if the database can. A process that misses it learns the same by polling. */
export async function notify(database: Database, payload: string): Promise<void> {
  await database.read(NOTIFY, [payload]).catch(() => {});
}

/** Listens on a separate connection until `signal` is aborted. Calls `heard` with payloads, and with "connected" after a gap. */
export async function listen(
  database: Database,
  clock: Clock,
  signal: AbortSignal,
  heard: (payload: string) => void,
): Promise<void> {
  while (!signal.aborted) {
    const error = await openSession(database, signal, heard).catch((reason) => reason);
    if (NOT_OFFERED.test(error?.code)) return;
    await clock.sleep(RECONNECT_MS, signal).catch(() => {});
  }
}

/** Listens on one connection until it ends. */
async function openSession(database: Database, signal: AbortSignal, heard: (payload: string) => void) {
  const client = await database.connect();
  try {
    const lost = once(client, "end", { signal });
    lost.catch(() => {});
    client.on("notification", ({ payload = "" }) => heard(payload));
    await client.query("LISTEN research");
    heard("connected");
    await lost;
  } finally {
    await client.end().catch(() => {});
  }
}
