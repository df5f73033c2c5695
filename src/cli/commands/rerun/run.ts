import type { LimitOptions } from "../../../machine/machine.js";
import { requestBody } from "../../../protocol/conversation.js";
import { forProvider, UNKNOWN } from "../../../store/history/records.js";
import { UnresolvedCreateError } from "../../../workflows/errors.js";
import { requireEntry } from "../../../workflows/targets.js";
import type { Context } from "../../context.js";
import { completeRequest, type ProviderOptions, showRequest } from "../../input/create-request.js";
import { type CreateViewOptions, showCreate } from "../../requests/create.js";
import { resumeCommand } from "../../resume.js";

export interface RerunOptions extends LimitOptions, ProviderOptions, Omit<CreateViewOptions, "limit"> {
  dryRun?: boolean;
}

/** A new request with the prompt and the schema of an old one. One whose outcome is unknown must be settled first. */
export async function rerun(ctx: Context, id: string, options: RerunOptions): Promise<number> {
  const entry = requireEntry(ctx.ports, id);
  const { prompt, output_schema, structured_output } = entry;
  // A model of one provider says nothing to another service.
  const own = entry.origin === ctx.ports.origin ? forProvider(entry) : {};
  const old = { ...requestBody(prompt, output_schema ?? undefined, structured_output), ...own };
  const body = await completeRequest(ctx, old, options);
  if (options.dryRun) {
    await showRequest(ctx, body);
    return 0;
  }
  if (entry.status === UNKNOWN) throw UnresolvedCreateError.of(entry);
  const limit = ctx.hourlyLimit(options);
  return showCreate(ctx, ctx.ports, body, { ...options, limit }, (created) =>
    resumeCommand(ctx.flags, "watch", created),
  );
}
