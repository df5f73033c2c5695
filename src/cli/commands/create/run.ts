import type { LimitOptions } from "../../../machine/machine.js";
import type { Context } from "../../context.js";
import {
  completeRequest,
  type ProviderOptions,
  type RequestOptions,
  readRequest,
  showRequest,
} from "../../input/create-request.js";
import { type CreateViewOptions, showCreate } from "../../requests/create.js";
import { resumeCommand } from "../../resume.js";

export interface CreateFlags
  extends RequestOptions,
    ProviderOptions,
    LimitOptions,
    Omit<CreateViewOptions, "limit"> {
  dryRun?: boolean;
}

/** Submits a prompt; the id is on stdout the moment it is safe on the disk. */
export async function create(
  ctx: Context,
  prompt: string | undefined,
  options: CreateFlags,
): Promise<number> {
  const body = await completeRequest(ctx, await readRequest(ctx, prompt, options), options);
  if (options.dryRun) {
    await showRequest(ctx, body);
    return 0;
  }
  const limit = ctx.hourlyLimit(options);
  return showCreate(ctx, ctx.ports, body, { ...options, limit }, (id) =>
    resumeCommand(ctx.flags, "watch", id),
  );
}
