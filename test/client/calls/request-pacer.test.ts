import { expect, test } from "vitest";
import { RequestPacer } from "../../../src/client/calls/request-pacer.js";
import { ResearchClient } from "../../../src/client/calls/research-client.js";
import { createExaDialect } from "../../../src/client/dialects/exa.js";
import { KEY, ProviderDouble } from "../../support/providers/double.js";
import { VirtualClock } from "../../support/virtual-clock.js";

/** When each of `count` requests starts that are due at once, and each poll of a watch that is always due, from now on. */
async function startsOf(count: number, polls: number, isPolling = () => true) {
  const clock = new VirtualClock();
  const [start, pace, watch] = [clock.monotonic(), new RequestPacer(250, true), {}];
  const starts: [kind: string, at: number][] = [];
  const calls = Array.from({ length: count }, async () => {
    await pace.waitForTurn(clock);
    starts.push(["call", clock.monotonic() - start]);
  });
  for (let n = 0; n < polls; n++) {
    const dueAt = clock.monotonic();
    for (
      let at = pace.planPoll(watch, dueAt);
      at > clock.monotonic() || !isPolling();
      at = pace.planPoll(watch, dueAt)
    )
      await clock.sleep(Math.max(at - clock.monotonic(), 10));
    pace.startPoll(clock.monotonic());
    starts.push(["poll", clock.monotonic() - start]);
  }
  pace.planPoll(watch, Number.POSITIVE_INFINITY);
  await Promise.all(calls);
  return starts;
}

test("polls and other requests take turns, however many of these wait", async () => {
  const starts = await startsOf(1_000, 4);
  const places = starts.flatMap(([kind], place) => (kind === "poll" ? place : []));
  expect(places).toEqual([0, 2, 4, 6]);
  expect(starts.map(([, at]) => at)).toEqual(starts.map((_, place) => place * 250));
});

test("without a poll that is due the other requests start at every place", async () => {
  expect((await startsOf(4, 0)).map(([, at]) => at)).toEqual([0, 250, 500, 750]);
});

test("a poll that is due and does not start holds a request up for one place, and no longer", async () => {
  const clock = new VirtualClock();
  const [start, pace] = [clock.monotonic(), new RequestPacer(250, true)];
  pace.planPoll({}, start);
  const starts: number[] = [];
  for (let n = 0; n < 3; n++) {
    await pace.waitForTurn(clock);
    starts.push(clock.monotonic() - start);
  }
  // At first both are due for the same time.
  expect(starts).toEqual([0, 250, 750]);
});

test("a request that is given up leaves the line, and the next one does not wait for it", async () => {
  const clock = new VirtualClock();
  const [start, pace, reason] = [clock.monotonic(), new RequestPacer(250, true), new Error("enough")];
  await pace.waitForTurn(clock);
  const ending = new AbortController();
  const left = expect(pace.waitForTurn(clock, ending.signal)).rejects.toBe(reason);
  const alsoLeft = expect(pace.waitForTurn(clock, ending.signal)).rejects.toBe(reason);
  const next = pace.waitForTurn(clock);
  ending.abort(reason);
  await Promise.all([left, alsoLeft, next]);
  expect(clock.monotonic() - start).toBe(250);
  await expect(pace.waitForTurn(clock, ending.signal)).rejects.toBe(reason);
});

test("at Exa the end of a run is seen while 120 creates wait for their turn", async () => {
  const clock = new VirtualClock();
  const double = await ProviderDouble.start("exa");
  const client = new ResearchClient({
    baseUrl: double.url,
    apiKey: KEY,
    dialect: createExaDialect("medium"),
    clock,
    random: () => 0.5,
  });
  const id = double.add({ query: "why => running completed" });
  const start = clock.monotonic();
  const creates = Array.from({ length: 120 }, (_, n) => client.create({ prompt: `${n}` }));
  let endedAt = Number.POSITIVE_INFINITY;
  for await (const event of client.watch(id))
    if (event.kind === "state" && event.final) endedAt = clock.monotonic();
  await Promise.all(creates);
  // The second poll comes a second after the first one, and may have to let one create go first.
  expect(endedAt - start).toBeLessThanOrEqual(2_500);
  expect(clock.monotonic() - start).toBeGreaterThanOrEqual(119 * 250);
  await client.close();
});
