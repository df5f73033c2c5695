import type { CreateBody } from "../../protocol/conversation.js";
import { formatDuration, isoDate } from "../../text/duration.js";
import type { Ports } from "../../workflows/ports.js";
import { type Submitted, submitWithinQuota } from "../../workflows/submit.js";
import type { Reporter } from "../terminal/reporter.js";
import type { Terminal } from "../terminal/terminal.js";

export interface SubmitViewOptions {
  /** Creates per hour. */
  limit: number | undefined;
  waitForQuota?: boolean | undefined;
}

/** Submits, and says what it waits for. An id that is not on the disk is said before it can be lost. */
export async function showSubmit(
  { reporter, signal }: Terminal,
  ports: Ports,
  body: CreateBody,
  { limit, waitForQuota }: SubmitViewOptions,
): Promise<Submitted> {
  const submitted = await submitWithinQuota(ports, body, {
    limit,
    waitForQuota,
    signal,
    onEvent: ({ until }) => sayWait(reporter, until, ports.clock.now()),
  });
  const { data, notSaved } = submitted;
  if (notSaved)
    await reporter.notice("NOT_SAVED", `NOT SAVED: ${data.request_id} was created, but ${notSaved.message}`);
  return submitted;
}

function sayWait(reporter: Reporter, until: number, now: number): Promise<void> {
  const wait = formatDuration(until - now);
  return reporter.notice(
    "WAITING_FOR_QUOTA",
    `the hourly limit is reached; waiting ${wait}, until ${isoDate(until)}`,
  );
}
