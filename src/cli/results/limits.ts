import { isCutShort } from "../../dialects/dialect.js";
import type { Data } from "../../protocol/conversation.js";
import { safeLine } from "../../text/safe-text.js";
import type { Reporter } from "../terminal/reporter.js";

/** Why a provider ends a COMPLETED run early. */
const EARLY = ["budget_reached", "time_limit_reached", "stopped"];

/** Says what a provider itself says against its result: it is a part of one, or was made with less than was asked for. */
export async function sayLimits(reporter: Reporter, data: Data, requestId: string): Promise<void> {
  const { stop_reason: reason, warnings } = data;
  const why = typeof reason === "string" ? safeLine(reason) : "no reason was given";
  if (isCutShort(data))
    await reporter.notice("CUT_SHORT", `the result of ${requestId} was cut short: ${why}`);
  else if (EARLY.includes(String(reason)))
    await reporter.notice("ENDED_EARLY", `${requestId} is COMPLETED, and ended early: ${why}`);
  for (const warning of Array.isArray(warnings) ? warnings : []) {
    const { message } = Object(warning);
    if (typeof message === "string") await reporter.notice("PROVIDER_WARNING", safeLine(message));
  }
}
