import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { systemClock } from "../../../src/core/clock.js";
import type { WireRequest } from "../../../src/core/http/send-request.js";
import { Agent } from "../../../src/core/http/undici.js";
import { ChatEndpoint } from "../../../src/reader/model/endpoint/chat-endpoint.js";
import { memorySources } from "../../support/memory-sources.js";
import {
  answers,
  type ChatRequest,
  hangs,
  modelEndpoint,
  type Play,
  says,
} from "../../support/model-endpoint.js";
import { ask, behaving, FILES, jobOf, QUESTION } from "../../support/model-researcher.js";
import { quiet } from "../../support/quiet.js";
import { until } from "../../support/service.js";
import { keptExchanges } from "../../support/small-web.js";

const STEPS: ChatRequest["step"][] = ["plan", "notes", "answer", "result"];
const REASON = new Error("stopped by the client");
const STREAMING = says({ queries: ["a long reply that never ends"] }, { hangAt: 20 });

describe.each(STEPS)("a stop in the step `%s`", (step) => {
  it.each<[string, Play]>([
    ["while the endpoint has not answered", hangs],
    ["in the middle of the stream", STREAMING],
  ])("%s closes the socket and sends nothing more", async (_name, play) => {
    const behave = behaving();
    const endpoint = await modelEndpoint((request) => (request.step === step ? play : behave(request)));
    const stop = new AbortController();
    const more = step === "result" ? { structured_output: true, output_schema: { type: "object" } } : {};
    const exchanges = keptExchanges();
    const research = ask(endpoint, { exchanges }, jobOf(QUESTION, more), stop.signal).catch((error) => error);
    const request = await until(async () => endpoint.requests.find((one) => one.step === step));
    await sleep(30);
    const count = endpoint.requests.length;
    const recorded = exchanges.records.get("r-1")?.length;
    stop.abort(REASON);
    expect(await research).toBe(REASON);
    await request.closed;
    await quiet();
    expect(endpoint.requests).toHaveLength(count);
    expect(exchanges.records.get("r-1")).toHaveLength(recorded ?? 0);
  });
});

it("a stop during a wait after a 429 ends the wait", async () => {
  const endpoint = await modelEndpoint(() => answers(429, "{}", { "retry-after": "100" }));
  const stop = new AbortController();
  const notices: string[] = [];
  const research = ask(endpoint, { notices }, jobOf(), stop.signal);
  await until(async () => (notices.length > 0 ? true : undefined));
  stop.abort(REASON);
  await expect(research).rejects.toBe(REASON);
  expect(endpoint.requests).toHaveLength(1);
});

it("a stop before the research begins, or while the sources are searched, sends nothing", async () => {
  const endpoint = await modelEndpoint(behaving());
  const aborted = AbortSignal.abort(REASON);
  await expect(ask(endpoint, {}, jobOf(), aborted)).rejects.toBe(REASON);
  expect(endpoint.requests).toHaveLength(0);
  const stop = new AbortController();
  const searching = () => {
    stop.abort(REASON);
    return new Promise<never>(() => {});
  };
  const sources = {
    ...memorySources(FILES),
    for: () => ({ ...memorySources(FILES).for("r-1", stop.signal), search: searching }),
  };
  await expect(ask(endpoint, { sources }, jobOf(), stop.signal)).rejects.toBe(REASON);
  expect(endpoint.requests).toHaveLength(1);
});

it("a stop while a connection is being made ends at once", async () => {
  let connecting = () => {};
  const begun = new Promise<void>((resolve) => {
    connecting = resolve;
  });
  // A connection that neither comes about nor fails.
  const agent = new Agent({ connect: () => connecting() });
  const stop = new AbortController();
  const url = new URL("http://127.0.0.1:9/v1");
  const { signal } = stop;
  const sentHeaders: object[] = [];
  const connections = {
    getShared: async () => agent,
    routeRequest<T extends WireRequest>(request: T) {
      sentHeaders.push(request.headers);
      return request;
    },
    close: () => agent.destroy(),
  };
  const endpoint = new ChatEndpoint({ url, model: "m", apiKey: undefined, connections, clock: systemClock });
  const request = { messages: [], schema: { name: "x", schema: {} }, maxTokens: 1 };
  const sent = endpoint.send(request, signal);
  await begun;
  stop.abort(REASON);
  await expect(sent).rejects.toBe(REASON);
  const accept = "text/event-stream, application/json";
  expect(sentHeaders).toEqual([{ "content-type": "application/json", accept }]);
  await endpoint.close();
});
