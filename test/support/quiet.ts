import { subscribe } from "node:diagnostics_channel";

const inFlight = new Set<unknown>();
const waiting = new Set<() => void>();
const note = (message: unknown) => (message as { request: unknown }).request;
/** Requests whose server waits for time to pass before it answers. */
let answeredLater = 0;
const isRequested = () => inFlight.size > answeredLater;
const wakeAll = () => {
  if (isRequested()) return;
  for (const wake of waiting) wake();
  waiting.clear();
};
const end = (message: unknown) => {
  inFlight.delete(note(message));
  wakeAll();
};
// Node's own fetch and the undici of the client both speak on these channels, whichever copy they come from.
subscribe("undici:request:create", (message) => inFlight.add(note(message)));
subscribe("undici:request:trailers", end);
subscribe("undici:request:error", end);

/** What libuv is still working on that ends by itself: reading and writing files, looking up names, connecting. */
const WORK = /Req|ConnectWrap$/;
/** Turns of the event loop without work after which no answer, callback or promise is on its way any more. */
const TURNS = 6;

/** Resolves when this process waits for nothing but time: no HTTP request, no file, and idle for a few turns. */
export async function quiet(): Promise<void> {
  for (let idle = 0; idle < TURNS; idle++) {
    await new Promise((resolve) => setImmediate(resolve));
    const hasRequest = isRequested();
    if (!hasRequest && !process.getActiveResourcesInfo().some((name) => WORK.test(name))) continue;
    idle = -1;
    // Turns without a pause would take a core from the processes that the work waits for.
    await new Promise<void>((resolve) => (hasRequest ? waiting.add(resolve) : setTimeout(resolve, 1)));
  }
}

/** What a server waits for on the clock before it answers a request: that request keeps no time from passing meanwhile. */
export async function answerAfter(wait: Promise<void>): Promise<void> {
  answeredLater++;
  wakeAll();
  await wait.finally(() => answeredLater--);
}
