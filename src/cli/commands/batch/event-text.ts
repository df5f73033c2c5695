import { rowName } from "../../../machine/batch.js";
import { failureOf } from "../../../machine/failure.js";
import type { BatchEvent } from "../../../workflows/batch/events.js";
import type { LimitLesson } from "../../../workflows/batch/pacing/create-pacer.js";
import type { RowState } from "../../../workflows/batch/plan.js";
import { limitFlag } from "../../requests/quota.js";

/** A sentence about a row, with its name. */
export function named({ row }: RowState, message: string): string {
  return `${rowName(row)}: ${message}`;
}

/** A result that exists and could not be written. */
export function notSavedText({ state, error }: BatchEvent & { kind: "not-saved" }): string {
  return `request ${state.requestId} exists and is NOT SAVED: ${error.message}`;
}

/** What does not work now, and that it is tried again. */
export function troubleText(event: BatchEvent & { kind: "trouble" }): string {
  const message = failureOf(event.error).message.replace(/\.$/, "");
  switch (event.activity) {
    case "create":
      return `${message}; sending is tried again`;
    case "poll":
      return `${message}; polling goes on`;
    case "fetch":
      return `${event.state ? named(event.state, message) : message}; the result is asked for again`;
  }
}

/** What a 429 says about the limit, and the flag that would have prevented it. */
export function lessonText({ used, certainty }: LimitLesson): string {
  const creates = `it came after ${used} ${used === 1 ? "create" : "creates"} within the hour from this machine`;
  const seen = `the service says that the hourly limit is reached; ${creates}`;
  switch (certainty) {
    case "exact":
      return `${seen}, so the limit is ${used}, which is kept from now on; ${limitFlag(used)} prevents the refused create`;
    case "upper-bound":
      return `${seen}; if only this machine uses the key, pass ${limitFlag(used)}`;
    case "shared":
      return `${seen}, so others use the key; --tier or --per-hour counts at least what is sent from here`;
  }
}
