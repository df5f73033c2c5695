import { expect, test } from "vitest";
import { Pace } from "../../../../src/client/calls/pace.js";
import { PollScheduler } from "../../../../src/client/calls/watch/poll-scheduler.js";
import { watched } from "./fixtures.js";

test.each([
  [{}, Number.POSITIVE_INFINITY],
  [{ timeout: 0 }, Number.POSITIVE_INFINITY],
  [{ timeout: 100 }, 110],
])("with %j an id that is watched since 10 has until %j", (options, deadline) => {
  expect(new PollScheduler(options, new Pace(0)).deadlineOf(watched({ since: 10 }))).toBe(deadline);
});
