import { expect, it } from "vitest";
import { STATUSES } from "../../../src/protocol/conversation.js";
import { nextStatus, type Trigger } from "../../../src/server/conversations/states.js";

// §3, every state against every trigger, written out by hand.
const TABLE: Record<Trigger, (string | undefined)[]> = {
  //          PENDING       PROCESSING   COMPLETED  FAILED     STOPPED
  start: ["PROCESSING", undefined, undefined, undefined, undefined],
  complete: [undefined, "COMPLETED", undefined, undefined, undefined],
  fail: [undefined, "FAILED", undefined, undefined, undefined],
  stop: ["STOPPED", "STOPPED", undefined, undefined, undefined],
};

it.each(Object.keys(TABLE) as Trigger[])("%s goes where §3 lets it", (trigger) => {
  expect(STATUSES.map((status) => nextStatus(status, trigger))).toEqual(TABLE[trigger]);
});
