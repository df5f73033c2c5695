import type { Status } from "../protocol/conversation.js";
import { inWords, LocalError } from "../store/errors.js";
import type { Seen } from "../store/history/records.js";
import type { Ports } from "./ports.js";

/**
 * Keeps a state that was seen of a request, if the request is in the history and of the origin in force: another
 * service may know another request by the same id. Returns why that failed: the state
 * can be asked for again, so it ends nothing.
 */
export function observe(
  { history, origin }: Pick<Ports, "history" | "origin">,
  entry: Seen | undefined,
  status: Status,
): LocalError | undefined {
  if (entry?.origin !== origin) return undefined;
  try {
    history?.observe(entry, status);
    entry.status = status;
    return undefined;
  } catch (error) {
    return error instanceof LocalError ? error : new LocalError(inWords(error), { cause: error });
  }
}
