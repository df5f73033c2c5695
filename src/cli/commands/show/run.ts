import { requireEntry } from "../../../workflows/targets.js";
import type { Context } from "../../context.js";
import { entryDetails } from "./view.js";

/** Everything the history holds of one request. */
export async function show(ctx: Context, id: string): Promise<number> {
  const entry = requireEntry(ctx.ports, id);
  if (ctx.reporter.json) await ctx.reporter.resultJson(entry);
  else await ctx.reporter.result(entryDetails(entry, await ctx.reporter.style()));
  return 0;
}
