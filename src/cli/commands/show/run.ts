import type { Entry } from "../../../store/history/records.js";
import { UNKNOWN } from "../../../store/history/records.js";
import type { Context } from "../../context.js";
import { CliError } from "../../errors.js";
import { findEntry } from "../../ids.js";
import { entryDetails } from "../list/view.js";

/** Everything the history holds of one request. */
export async function show(ctx: Context, id: string): Promise<number> {
  const entry = requireEntry(ctx, id);
  if (ctx.reporter.json) await ctx.reporter.resultJson(entry);
  else await ctx.reporter.result(entryDetails(entry, await ctx.reporter.style()));
  return 0;
}

/** Throws CliError `NOT_FOUND` for what is not in the history. */
export function requireEntry(ctx: Context, id: string): Entry {
  const entry = findEntry(ctx, id);
  if (entry) return entry;
  throw new CliError("NOT_FOUND", `${id} is not in the history of this machine`, {
    hint: "`research list` shows what is.",
  });
}

/** Whether nobody knows what became of it. */
export function isUnknown(entry: Entry): boolean {
  return entry.status === UNKNOWN;
}
