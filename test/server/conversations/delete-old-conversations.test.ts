import { expect, it } from "vitest";
import { deleteOldConversations } from "../../../src/server/conversations/delete-old-conversations.js";
import { create, outputOf, serviceFor, until } from "../../support/service.js";
import { VirtualClock } from "../../support/virtual-clock.js";

it("what ended too long ago is not found any more", async () => {
  const service = await serviceFor({ keepMs: 300 });
  const id = await create(service);
  await until(async () => (await outputOf(service, id)).error?.code === "REQUEST_NOT_FOUND" || undefined);
});

it("is looked for again and again, also after an error, until it is stopped", async () => {
  const clock = new VirtualClock();
  const stop = new AbortController();
  const log: string[] = [];
  let calls = 0;
  const deleteEnded = async (ageMs: number) => {
    expect(ageMs).toBe(3_600_000);
    calls += 1;
    if (calls === 2) throw new Error("no luck");
    if (calls === 4) stop.abort();
    return 0;
  };
  await deleteOldConversations({ deleteEnded }, 3_600_000, clock, (line) => void log.push(line), stop.signal);
  expect(calls).toBe(4);
  expect(log).toEqual(["old conversations could not be deleted: no luck"]);
});
