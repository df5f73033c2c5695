import type { LimitOptions } from "../../../machine/machine.js";
import { requireBaseUrl } from "../../../machine/settings.js";
import { requestBody } from "../../../protocol/conversation.js";
import { UNKNOWN } from "../../../store/history/records.js";
import { UnresolvedCreateError } from "../../../workflows/errors.js";
import { requireEntry } from "../../../workflows/targets.js";
import type { Context } from "../../context.js";
import { showRequest } from "../../input/create-request.js";
import { type CreateViewOptions, showCreate } from "../../requests/create.js";
import { resumeCommand } from "../../resume.js";

export interface RerunOptions extends LimitOptions, Omit<CreateViewOptions, "limit"> {
  dryRun?: boolean;
}

/** A new request with the prompt and the schema of an old one. One whose outcome is unknown must be settled first. */
export async function rerun(ctx: Context, id: string, options: RerunOptions): Promise<number> {
  const entry = requireEntry(ctx.ports, id);
  const body = requestBody(entry.prompt, entry.output_schema ?? undefined, entry.structured_output);
  if (options.dryRun) {
    await showRequest(ctx.reporter, requireBaseUrl(ctx.settings), body);
    return 0;
  }
  if (entry.status === UNKNOWN) throw UnresolvedCreateError.of(entry);
  const limit = ctx.hourlyLimit(options);
  return showCreate(ctx, ctx.ports, body, { ...options, limit }, (created) =>
    resumeCommand(ctx.flags, "watch", created),
  );
}
