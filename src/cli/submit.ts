import type { Created } from "../client/client.js";
import { OutcomeUnknownError, RefusedError, UnreachableError } from "../client/errors.js";
import type { CreateBody } from "../protocol/conversation.js";
import { LocalError } from "../store/errors.js";
import type { Pending } from "../store/pending.js";
import type { Context } from "./context.js";
import { CliError, Interrupted } from "./errors.js";
import { requireConnection } from "./settings.js";

/** A request that exists. */
export interface Submitted {
  data: Created;
  /** Why the id could not be kept in the history, which is then the caller's to tell. */
  notSaved: LocalError | undefined;
}

/**
 * Creates a request so that it is never lost: the intent is on the disk before anything is sent, the id before
 * this returns. Throws what the client throws; an unknown outcome names its local id.
 */
export async function submit(ctx: Context, body: CreateBody): Promise<Submitted> {
  const { client } = ctx;
  const pending = begin(ctx, body);
  let known = false;
  let notSaved: LocalError | undefined;
  const keep = (write: () => void) => {
    try {
      write();
    } catch (error) {
      if (!(error instanceof LocalError)) throw error;
      notSaved = error;
    }
  };
  try {
    const data = await client.create(body, {
      signal: ctx.signal,
      onRequestId: (requestId, answered) => {
        known = answered !== undefined;
        keep(() => (answered ? pending?.created(requestId, answered) : pending?.salvaged(requestId)));
      },
    });
    if (!known) keep(() => pending?.created(data.request_id, data));
    return { data, notSaved };
  } catch (error) {
    throw settle(error, pending, notSaved);
  }
}

/** Throws LocalError where the intent cannot be kept: then nothing is sent. */
function begin(ctx: Context, body: CreateBody): Pending | undefined {
  const { settings, history } = ctx;
  if (settings.history.value === "off") return undefined;
  const hint =
    "set RESEARCH_STATE_DIR to a folder that can be written, or RESEARCH_NO_HISTORY=1 to go on without a record";
  if (!history)
    throw new LocalError(`the request was not sent, because there is no folder to record it in: ${hint}`);
  const { origin, apiKey } = requireConnection(settings);
  try {
    return history.begin({
      origin,
      apiKey,
      body,
      profile: settings.profile.source === "default" ? null : settings.profile.value,
    });
  } catch (error) {
    if (!(error instanceof LocalError)) throw error;
    throw new LocalError(`the request was not sent: ${error.message}; ${hint}`, { cause: error });
  }
}

/** What the history is told of a create that did not end well. */
function settle(error: unknown, pending: Pending | undefined, notSaved: LocalError | undefined): unknown {
  if (error instanceof OutcomeUnknownError) {
    const localId = pending?.localId;
    const kept = localId
      ? `It is kept as unknown; settle it: research resolve ${localId} --request-id ID, or --not-created.`
      : "It is in no history; look for it where the service lists requests.";
    return new UnknownOutcome(error, localId, notSaved ? `${kept} ${notSaved.message}` : kept);
  }
  // Only what provably created nothing leaves the history; anything unforeseen stays an unknown.
  if (error instanceof RefusedError || error instanceof UnreachableError || error instanceof Interrupted) {
    // The service does not count what it turns down for its rate (§8), and has not seen what never arrived.
    const counted = error instanceof RefusedError && error.kind !== "rate-limited";
    pending?.dismissed(counted ? error.code : undefined);
  }
  return error;
}

/** A create whose outcome nobody knows, with the name it has in the history. */
export class UnknownOutcome extends CliError {
  readonly httpStatus: number | undefined;

  constructor(error: OutcomeUnknownError, localId: string | undefined, hint: string) {
    super(
      "OUTCOME_UNKNOWN",
      `the request was sent and no readable answer came back, so it may or may not exist (${error.message})`,
      {
        localId,
        requestId: error.requestId,
        hint,
      },
    );
    this.httpStatus = error.httpStatus;
  }
}
