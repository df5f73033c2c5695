import { RefusedError } from "../../../client/errors.js";
import { parseBaseUrl } from "../../../client/http/address.js";
import { isFinal } from "../../../protocol/conversation.js";
import { type Entry, UNKNOWN } from "../../../store/history/records.js";
import type { Context } from "../../context.js";
import { observe } from "../../outcome.js";
import { requireConnection } from "../../settings.js";
import { entryRow, entryTable } from "./view.js";

export interface ListOptions {
  limit: number;
  status?: string;
  refresh?: boolean;
}

/** What this machine created, of every origin unless a flag narrows it. */
export async function list(ctx: Context, options: ListOptions): Promise<number> {
  const { reporter, host } = ctx;
  const origin = narrowed(ctx);
  const wanted = options.status?.toUpperCase();
  // A status may change by being refreshed, so the filter waits for that.
  const accepts = (entry: Entry) => origin === undefined || entry.origin === origin;
  const matches = (entry: Entry) => wanted === undefined || entry.status.toUpperCase() === wanted;
  const early = options.refresh ? accepts : (entry: Entry) => accepts(entry) && matches(entry);
  let entries = ctx.history?.list({ limit: options.limit, accepts: early }) ?? [];
  if (options.refresh) entries = (await refresh(ctx, entries)).filter(matches);
  if (reporter.json) await reporter.resultJson(entries);
  else if (host.stdout.isTTY)
    await reporter.result(
      entryTable(entries, host.clock.now(), host.stdout.stream?.columns ?? 80, await reporter.style()),
    );
  else await reporter.result(entries.map((entry) => `${entryRow(entry)}\n`).join(""));
  if (entries.length === 0)
    await reporter.say("nothing was created from this machine yet, or nothing that fits");
  return 0;
}

function narrowed(ctx: Context): string | undefined {
  const { baseUrl, profile } = ctx.flags;
  if (baseUrl === undefined && profile === undefined) return undefined;
  const url = ctx.settings.baseUrl?.value;
  return url === undefined ? undefined : parseBaseUrl(url, true).origin;
}

/** Asks for the state of those that still ran at the origin in force; the others are left as they are. */
async function refresh(ctx: Context, entries: Entry[]): Promise<Entry[]> {
  const { origin } = requireConnection(ctx.settings);
  return Promise.all(
    entries.map(async (entry) => {
      if (
        entry.origin !== origin ||
        entry.request_id === null ||
        entry.status === UNKNOWN ||
        isFinal(entry.status)
      )
        return entry;
      try {
        const { status } = await ctx.client.status(entry.request_id, { signal: ctx.signal });
        observe(ctx, entry, status);
        return { ...entry, status };
      } catch (error) {
        if (error instanceof RefusedError && error.kind === "not-found") return entry;
        throw error;
      }
    }),
  );
}
