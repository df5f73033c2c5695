import { keptResult } from "../../../workflows/results.js";
import { requireEntry } from "../../../workflows/targets.js";
import type { Context } from "../../context.js";
import { entryDetails, type ShownEntry } from "./view.js";

/** Everything the history holds of one request, and what its kept result says of its cost and its sources. */
export async function show(ctx: Context, id: string): Promise<number> {
  const found = requireEntry(ctx.ports, id);
  const { request_id: requestId, origin } = found;
  const kept =
    requestId === null
      ? undefined
      : keptResult({ history: ctx.ports.history, origin }, { requestId, entry: found });
  const entry: ShownEntry = {
    ...found,
    ...(typeof kept?.cost_dollars === "number" && { cost_dollars: kept.cost_dollars }),
    ...(kept?.usage !== undefined && { usage: kept.usage }),
    ...(Array.isArray(kept?.sources) && { sources: kept.sources }),
  };
  if (ctx.reporter.json) await ctx.reporter.resultJson(entry);
  else await ctx.reporter.result(entryDetails(entry, await ctx.reporter.style()));
  return 0;
}
