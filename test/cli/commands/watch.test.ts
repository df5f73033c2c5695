import { expect, test } from "vitest";
import { machine } from "../../support/machine.js";

test("watch says how many of several are not finished when the time is over, in the queue or running", async () => {
  const { run, service } = await machine();
  const ids = [service.add("a => PENDING"), service.add("b => PROCESSING"), service.add("c => COMPLETED")];
  const { code, stderr } = await run("watch", ...ids, "--timeout", "1h");
  expect([code, stderr]).toEqual([8, expect.stringContaining("2 of 3 are not finished after 1h")]);
});
