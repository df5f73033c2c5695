import { once } from "node:events";
import type { Clock } from "../../core/clock.js";
import { type Database, defineSql } from "./database.js";

/** Interval between two connection attempts, in ms. */
const RECONNECT_MS = 250;
/** SQLSTATE codes of a database without LISTEN. Workers then poll for work, and learn of stops when they renew their lease. */
const NOT_OFFERED = /^(?:0A|42)/;

/** Notifies all listeners. Parameter: payload. */
const NOTIFY = defineSql("notify")`SELECT pg_notify('research', $1)`;

/** Asks another random worker, by its id in the payload, to look for work. Parameter: id of this process. */
const NOTIFY_WORKER = defineSql("notify-worker")`
  SELECT pg_notify('research', 'work ' || id) FROM (
    SELECT id FROM research.workers WHERE id <> $1 ORDER BY random() LIMIT 1
  ) AS one`;

/** Asks one other worker to look for work. Ignores a failure, because workers also poll. */
export async function notifyWorker(database: Database, self: string): Promise<void> {
  await database.read(NOTIFY_WORKER, [self]).catch(() => {});
}

/** Notifies the listening processes. Ignores a failure, because each process learns the same by polling. */
export async function notifyProcesses(database: Database, payload: string): Promise<void> {
  await database.read(NOTIFY, [payload]).catch(() => {});
}

/** Listens on a separate connection until `signal` aborts. Calls `heard` with each payload, and with "connected" after each connect. */
export async function listenForNotifications(
  database: Database,
  clock: Clock,
  signal: AbortSignal,
  heard: (payload: string) => void,
): Promise<void> {
  while (!signal.aborted) {
    const error = await listenUntilLost(database, signal, heard).catch((reason) => reason);
    if (NOT_OFFERED.test(error?.code)) return;
    await clock.sleep(RECONNECT_MS, signal).catch(() => {});
  }
}

/** Listens on one connection until that connection ends. */
async function listenUntilLost(database: Database, signal: AbortSignal, heard: (payload: string) => void) {
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
