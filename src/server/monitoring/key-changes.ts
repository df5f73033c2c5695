import type { Clock } from "../../core/clock.js";
import type { KeyStore, ServiceKey } from "../keys/key-store.js";
import type { Log } from "./operator-log.js";

/** The interval at which the keys are compared with the last list, in ms. */
const LOOK_MS = 1_000;

/** Logs each key that is added, changed or revoked, until `signal` is aborted. Never rejects. */
export async function logKeyChanges(
  keys: Pick<KeyStore, "list">,
  log: Log,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  let before: readonly ServiceKey[] | undefined;
  while (!signal.aborted) {
    const after = await keys.list().catch(() => undefined);
    for (const key of (before && after) ?? []) {
      const what = describeKeyChange(
        before?.find(({ id }) => id === key.id),
        key,
      );
      if (what) log(`the key ${key.name} was ${what}`, { level: "info" });
    }
    before = after ?? before;
    await clock.sleep(LOOK_MS, signal).catch(() => {});
  }
}

function describeKeyChange(before: ServiceKey | undefined, after: ServiceKey): string | undefined {
  if (before === undefined) return "added";
  if (before.revokedAt === undefined && after.revokedAt !== undefined) return "revoked";
  return JSON.stringify(before) === JSON.stringify(after) ? undefined : "changed";
}
