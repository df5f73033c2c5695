import { subscribe } from "node:diagnostics_channel";

const inFlight = new Set<unknown>();
const note = (message: unknown) => (message as { request: unknown }).request;
// Node's own fetch and the undici of the client both speak on these channels, whichever copy they come from.
subscribe("undici:request:create", (message) => inFlight.add(note(message)));
subscribe("undici:request:trailers", (message) => inFlight.delete(note(message)));
subscribe("undici:request:error", (message) => inFlight.delete(note(message)));

/** What libuv is still working on that ends by itself: reading and writing files, looking up names, connecting. */
const WORK = /Req|ConnectWrap$/;
/** Turns of the event loop without work after which no answer, callback or promise is on its way any more. */
const TURNS = 6;

/** Resolves when this process waits for nothing but time: no HTTP request, no file, and idle for a few turns. */
export async function quiet(): Promise<void> {
  for (let idle = 0; idle < TURNS; idle++) {
    await new Promise((resolve) => setImmediate(resolve));
    if (inFlight.size === 0 && !process.getActiveResourcesInfo().some((name) => WORK.test(name))) continue;
    idle = -1;
    // Turns without a pause would take a core from the processes that the work waits for.
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}
