import type { Created } from "../../../client/client.js";
import { CodedError } from "../../../machine/errors.js";
import type { LimitOptions } from "../../../machine/machine.js";
import { type CreateBody, requestBody } from "../../../protocol/conversation.js";
import { LocalError } from "../../../store/files.js";
import { forProvider, UNKNOWN } from "../../../store/history/history.js";
import { UnresolvedCreateError } from "../../../workflows/errors.js";
import { requireEntry } from "../../../workflows/requests.js";
import { type Context, resumeCommand } from "../../context.js";
import { completeRequest, readRequest, showRequest } from "../../input/create-request.js";
import { exitCodeOfOutcome, worstOf } from "../../requests/answers.js";
import { type FollowFlags, showFollow } from "../../requests/follow.js";
import { type SubmitViewOptions, sayLeft, showSubmit } from "../../requests/submit.js";
import type { Reporter } from "../../terminal/reporter.js";
import type { ProviderOptions, RequestOptions } from "../definition.js";

export interface RerunOptions
  extends ProviderOptions,
    LimitOptions,
    FollowFlags,
    Omit<SubmitViewOptions, "limit"> {
  dryRun?: boolean;
  /** Whether to go on as `watch`. */
  watch?: boolean;
}

export interface CreateFlags extends RequestOptions, RerunOptions {}

/** Submits a prompt; the id is on stdout the moment it is safe on the disk. */
export async function create(
  ctx: Context,
  prompt: string | undefined,
  options: CreateFlags,
): Promise<number> {
  const body = await readRequest(ctx, prompt, options);
  return showCreate(ctx, await completeRequest(ctx, body, options), options);
}

/** A new request with the prompt and the schema of an old one. One whose outcome is unknown must be settled first. */
export async function rerun(ctx: Context, id: string, options: RerunOptions): Promise<number> {
  const entry = requireEntry(ctx.ports, id);
  const { prompt, output_schema, structured_output } = entry;
  // A model of one provider says nothing to another service.
  const own = entry.origin === ctx.ports.origin ? forProvider(entry) : {};
  const old = { ...requestBody(prompt, output_schema ?? undefined, structured_output), ...own };
  const body = await completeRequest(ctx, old, options);
  if (entry.status === UNKNOWN && !options.dryRun) throw UnresolvedCreateError.of(entry);
  return showCreate(ctx, body, options);
}

/** Submits, prints the new request and, if asked, goes on as `watch`; or shows what would be sent. */
async function showCreate(ctx: Context, body: CreateBody, options: RerunOptions): Promise<number> {
  if (options.dryRun) return showRequest(ctx, body);
  const { reporter, signal, ports } = ctx;
  const limit = ctx.hourlyLimit(options);
  const { data, notSaved } = await showSubmit(ctx, ports, body, { ...options, limit });
  const requestId = data.request_id;
  await print(reporter, data);
  await sayLeft(reporter, ports, limit);
  if (notSaved) throw notSaved;
  signal.throwIfAborted();
  if (!options.watch) return 0;
  const target = { requestId, entry: ports.history?.find(requestId)[0] };
  const resume = () => resumeCommand(ctx.flags, "watch", requestId);
  const view = { ...options, print: true, answered: true, created: true, resume };
  const outcomes = await showFollow(ctx, ports, [target], view);
  return worstOf(outcomes.map((outcome) => exitCodeOfOutcome(outcome, { created: true })));
}

/** Throws CodedError `LOCAL_IO`, with the id, if that could not be printed. */
async function print(reporter: Reporter, data: Created): Promise<void> {
  const requestId = data.request_id;
  try {
    await reporter.show(data, `${requestId}\n`);
  } catch (error) {
    if (!(error instanceof LocalError)) throw error;
    throw new CodedError("LOCAL_IO", `${requestId} was created, but ${error.message}`, { requestId });
  }
}
