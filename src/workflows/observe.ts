import type { StatusData } from "../client/client.js";
import { isCutShort } from "../dialects/dialect.js";
import { exactJson } from "../json/exact-json.js";
import type { Data } from "../protocol/conversation.js";
import { isFinal } from "../protocol/conversation.js";
import { inWords, LocalError } from "../store/errors.js";
import type { Seen } from "../store/history/records.js";
import type { Ports } from "./ports.js";

/** A longer message of a stop is cut in the history. In UTF-16 units. */
const MESSAGE_LENGTH = 500;

/** Keeps a provider's result that an answer holds: it may be gone when it is asked for again. Throws LocalError. */
export function keepResult(
  { history, origin }: Pick<Ports, "history" | "origin">,
  requestId: string,
  data: Data,
): void {
  if (data.provider_status === undefined || data.output === undefined) return;
  history?.results.keep(origin, requestId, exactJson(data));
}

/**
 * Keeps a state that was seen of a request, and the result that came with it, if the request is in the history and of the origin in force: another
 * service may know another request by the same id. Returns why that failed: the state
 * can be asked for again, so it ends nothing.
 */
export function observe(
  { history, origin }: Pick<Ports, "history" | "origin">,
  entry: Seen | undefined,
  data: StatusData,
): LocalError | undefined {
  if (entry?.origin !== origin) return undefined;
  try {
    const { status, cost_dollars: cost, message } = data;
    const hasCost = typeof cost === "number" && isFinal(status);
    const isPart = isCutShort(data);
    history?.observe(entry, status, {
      ...(isPart && { cut_short: true }),
      ...(hasCost && { cost_dollars: cost }),
      ...(status === "STOPPED" &&
        typeof message === "string" && { message: message.slice(0, MESSAGE_LENGTH) }),
    });
    entry.status = status;
    if (isFinal(status)) keepResult({ history, origin }, entry.request_id ?? "", data);
    return undefined;
  } catch (error) {
    return error instanceof LocalError ? error : new LocalError(inWords(error), { cause: error });
  }
}
