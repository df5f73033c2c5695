import type { WatchTarget } from "../client/watch/types.js";
import { epochOf } from "../clock.js";
import { isRequestId } from "../protocol/conversation.js";
import { type Entry, UNKNOWN } from "../store/history/records.js";
import type { Context } from "./context.js";
import { CliError, UsageError } from "./errors.js";
import { requireBaseUrl } from "./settings.js";

/** A request as a user named it. `entry` is what the history holds of it. */
export interface Target {
  requestId: string;
  entry: Entry | undefined;
}

const LAST = "@last";
/** A shorter text is no prefix: it would match by accident. */
const SHORTEST_PREFIX = 4;

/** Finds out which request each text names: a whole id, a unique prefix of one in the history, or `@last`. */
export function resolveTargets(ctx: Context, texts: readonly string[]): Target[] {
  return texts.map((text) => resolveTarget(ctx, text));
}

/** The same for one. Throws UsageError, or CliError for an unknown outcome or an empty history. */
export function resolveTarget(ctx: Context, text: string): Target {
  const entry = findEntry(ctx, text);
  if (!entry) return { requestId: text, entry: undefined };
  if (entry.request_id === null || (entry.status === UNKNOWN && text === LAST)) throw unknownOutcome(entry);
  return { requestId: entry.request_id, entry: entry.status === UNKNOWN ? undefined : entry };
}

/** What the history holds of a text; undefined for a well-formed id that is not in it. */
export function findEntry(ctx: Context, text: string): Entry | undefined {
  if (text === LAST) return newest(ctx);
  if (!isRequestId(text)) {
    throw new UsageError(
      `${JSON.stringify(text)} is no request id`,
      "An id is made of letters, digits, `.`, `_` and `-`; `research list` shows those made here, @last is the newest.",
    );
  }
  const found = ctx.history?.find(text) ?? [];
  const whole = found.find((entry) => entry.request_id === text || entry.local_id === text);
  if (whole) return whole;
  if (text.length < SHORTEST_PREFIX) return undefined;
  if (found.length > 1) {
    const ids = found.map((entry) => entry.request_id ?? entry.local_id);
    throw new UsageError(
      `${JSON.stringify(text)} is the beginning of ${found.length} ids: ${ids.join(", ")}`,
      "Give more of it.",
    );
  }
  return found[0];
}

function newest(ctx: Context): Entry {
  const { origin } = requireBaseUrl(ctx.settings);
  const entry = ctx.history?.newest(origin);
  if (entry) return entry;
  throw new CliError("NOT_FOUND", `@last: nothing was created for ${origin} from this machine`, {
    hint: "`research list` shows what was.",
  });
}

function unknownOutcome(entry: Entry): CliError {
  return new CliError(
    "OUTCOME_UNKNOWN",
    `nobody knows whether the create ${entry.local_id} (sent ${entry.sent_at}) was carried out`,
    {
      localId: entry.local_id,
      requestId: entry.request_id ?? undefined,
      hint: `Settle it: research resolve ${entry.local_id} --request-id ID, or --not-created.`,
    },
  );
}

/** What a watch is told of a target. */
export function watchTarget({ requestId, entry }: Target): WatchTarget {
  return { requestId, createdAt: epochOf(entry?.created_at), recordedAt: epochOf(entry?.sent_at) };
}
