import { once } from "node:events";
import type { Clock } from "../../core/clock.js";
import { type Database, readSql } from "./database.js";

/** Between two tries to connect, ms. */
const RECONNECT_MS = 250;
/** SQLSTATEs of a database that knows no LISTEN: workers look for work by themselves, and learn of stops by a renewal. */
const NOT_OFFERED = /^(?:0A|42)/;

/** payload */
const NOTIFY = readSql("notify")`SELECT pg_notify('research', $1)`;

/** id of this process: names one of the other workers, which looks for work. */
const NOTIFY_WORKER = readSql("notify-worker")`
  SELECT pg_notify('research', 'work ' || id) FROM (
    SELECT id FROM research.processes WHERE role <> 'api' AND expires_at > now() AND id <> $1 ORDER BY random() LIMIT 1
  ) AS one`;

/** Has one of the other workers look for work. */
export async function notifyWorker(database: Database, self: string): Promise<void> {
  await database.read(NOTIFY_WORKER, [self]).catch(() => {});
}

/** Tells the processes that listen, if the database can; what they miss they learn by looking. */
export async function notify(database: Database, payload: string): Promise<void> {
  await database.read(NOTIFY, [payload]).catch(() => {});
}

/** LISTEN on a connection of its own until `signal` is aborted. `heard` gets payloads, and "connected" after a gap. */
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

/** One connection, from its beginning to its end. */
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
