import type { Created } from "../../client/client.js";
import { CodedError } from "../../machine/errors.js";
import type { CreateBody } from "../../protocol/conversation.js";
import { LocalError } from "../../store/errors.js";
import type { Ports } from "../../workflows/ports.js";
import { worstOf } from "../errors.js";
import { exitCodeOfOutcome } from "../outcome.js";
import type { Reporter } from "../terminal/reporter.js";
import type { Terminal } from "../terminal/terminal.js";
import { type FollowFlags, showFollow } from "./follow.js";
import { sayLeft } from "./quota.js";
import { type SubmitViewOptions, showSubmit } from "./submit.js";

export interface CreateViewOptions extends SubmitViewOptions, FollowFlags {
  /** Whether to go on as `watch`. */
  watch?: boolean;
}

/** Submits, prints the new request and, if asked, goes on as `watch`. `resume` gives the command that goes on later. */
export async function showCreate(
  terminal: Terminal,
  ports: Ports,
  body: CreateBody,
  options: CreateViewOptions,
  resume: (requestId: string) => string,
): Promise<number> {
  const { reporter, signal } = terminal;
  const { data, notSaved } = await showSubmit(terminal, ports, body, options);
  const requestId = data.request_id;
  await print(reporter, data);
  await sayLeft(reporter, ports, options.limit);
  if (notSaved) throw notSaved;
  signal.throwIfAborted();
  if (!options.watch) return 0;
  const target = { requestId, entry: ports.history?.find(requestId)[0] };
  const view = { ...options, print: true, answered: true, created: true, resume: () => resume(requestId) };
  const outcomes = await showFollow(terminal, ports, [target], view);
  return worstOf(outcomes.map((outcome) => exitCodeOfOutcome(outcome, { created: true })));
}

/** Throws CodedError `LOCAL_IO`, with the id, if that could not be printed. */
async function print(reporter: Reporter, data: Created): Promise<void> {
  const requestId = data.request_id;
  try {
    if (reporter.json) await reporter.resultJson(data);
    else await reporter.result(`${requestId}\n`);
  } catch (error) {
    if (!(error instanceof LocalError)) throw error;
    throw new CodedError("LOCAL_IO", `${requestId} was created, but ${error.message}`, { requestId });
  }
}
