import { expect, it } from "vitest";
import { systemClock } from "../../../src/core/clock.js";
import type {
  Conversation,
  ConversationStore,
} from "../../../src/server/conversations/conversation-store.js";
import { openLocalStore } from "../../../src/server/conversations/local/open-local-store.js";
import type { Service } from "../../../src/server/service.js";
import { KEY, memoryStore, serviceFor } from "../../support/service.js";
import { ask, post } from "../../support/wire.js";

let service: Service;

/** A service whose store answers as `own` says where that is given. */
async function withStore(own: Partial<ConversationStore>): Promise<void> {
  const store = await openLocalStore({ pendingMs: 60_000, clock: systemClock, log: () => {} });
  service = await serviceFor({ store: Object.assign(store, own) });
}

const ID = "3f2a";
const of = (operation: string) => `/api/v1/conversation/${ID}/${operation}`;
const conversation = (own: Partial<Conversation>): Conversation => ({
  ...{ requestId: ID, createdAt: 0, status: "PENDING", ...own },
});

const queue = { step: "queue", done: 1, of: 3 };
const progress = { step: "read", done: 1, of: 9, pages: 1, calls: 2, tokens: 3 };
it.each([
  ["PENDING", queue, { progress: queue }],
  ["PENDING", undefined, {}],
  ["PROCESSING", progress, { progress }],
  ["PROCESSING", undefined, {}],
  ["STOPPED", progress, {}],
] as const)("one that is %s and has progress %j shows %j", async (status, told, more) => {
  await withStore({ get: async () => conversation({ status, progress: told && JSON.stringify(told) }) });
  const { json } = await ask(service.baseUrl, { path: of("status"), key: KEY });
  const created_at = "1970-01-01T00:00:00.000+00:00";
  expect(json.data).toEqual({ request_id: ID, status, created_at, ...more });
});

it.each([
  ["PENDING", {}, "CONVERSATION_NOT_COMPLETED", "The conversation is still PENDING."],
  ["PROCESSING", {}, "CONVERSATION_NOT_COMPLETED", "The conversation is still PROCESSING."],
  ["FAILED", { reason: "No luck." }, "OUTPUT_NOT_AVAILABLE", "No luck."],
  ["STOPPED", {}, "OUTPUT_NOT_AVAILABLE", "The conversation is STOPPED and has no output."],
  ["COMPLETED", {}, "OUTPUT_NOT_AVAILABLE", "The conversation is COMPLETED and has no output."],
] as const)("one that is %s has no output: %j", async (status, more, code, message) => {
  await withStore({ output: async () => ({ conversation: conversation({ status, ...more }) }) });
  const answer = await ask(service.baseUrl, { path: of("output"), key: KEY });
  expect([answer.status, answer.json.error]).toEqual([400, { code, message }]);
});

it("an output names its request, its state and its end, whatever was said beside it", async () => {
  const data = '{"status":"STOPPED","output":"theirs","cost":0.10,"usage":{"calls":10000000000000000001}}';
  const ended = conversation({ status: "COMPLETED", endedAt: 1_500 });
  await withStore({ output: async () => ({ conversation: ended, output: '"ours"', data }) });
  const { text } = await ask(service.baseUrl, { path: of("output"), key: KEY });
  expect(text).toContain('"cost":0.10,"usage":{"calls":10000000000000000001}');
  const completed_at = "1970-01-01T00:00:01.500+00:00";
  const shown = { request_id: ID, status: "COMPLETED", output: "ours", completed_at };
  expect(JSON.parse(text).data).toMatchObject(shown);
});

it("says how far one is that runs, and of one that has ended nothing of it", async () => {
  for (const status of ["PROCESSING", "STOPPED"] as const) {
    const conversation = {
      requestId: ID,
      createdAt: 0,
      status,
      progress: '{"step":"queue","done":0,"of":4}',
    };
    await withStore({ get: async () => conversation });
    const { json } = await ask(service.baseUrl, { path: of("status"), key: KEY });
    expect(json.data?.progress).toEqual(
      status === "PROCESSING" ? { step: "queue", done: 0, of: 4 } : undefined,
    );
  }
});

it.each(["status", "output", "stop"])("%s of what is not there is 404", async (operation) => {
  await withStore({});
  const { status, json } =
    operation === "stop"
      ? await post(service.baseUrl, of(operation), KEY)
      : await ask(service.baseUrl, { path: of(operation), key: KEY });
  expect([status, json.error]).toEqual([
    404,
    { code: "REQUEST_NOT_FOUND", message: "No request has this request_id." },
  ]);
});

it.each([
  [undefined, ""],
  [{ canStop: true, remoteId: "r" }, ""],
  [
    { canStop: false, remoteId: "r" },
    " At There it goes on and is paid for: there is no way to stop it there.",
  ],
  [
    { canStop: true },
    " It is not known whether it exists at There: its create had no answer yet. If its id comes, it is stopped there.",
  ],
  [
    { canStop: false },
    " It is not known whether it exists at There: its create had no answer yet. At There it goes on and is paid for: there is no way to stop it there.",
  ],
])("a stop says whether the request at another service goes on: %j", async (remote, more) => {
  const begun = remote && { at: "https://there.example", provider: "There", ...remote };
  await withStore({ stop: async () => ({ kind: "stopped", ...(begun && { remote: begun }) }) });
  const { json } = await post(service.baseUrl, of("stop"), KEY);
  const message = `The conversation was stopped. No result is kept.${more}`;
  expect(json.data).toEqual({ request_id: ID, status: "STOPPED", message });
});

it.each(["COMPLETED", "FAILED", "STOPPED"] as const)("one that is %s cannot be stopped", async (status) => {
  await withStore({ stop: async () => ({ kind: "already-ended", status }) });
  const answer = await post(service.baseUrl, of("stop"), KEY);
  const code = `CONVERSATION_ALREADY_${status}`;
  expect([answer.status, answer.json.error]).toEqual([
    400,
    { code, message: `The conversation is already ${status}.` },
  ]);
});

it.each([
  [0, 200, undefined],
  [1, 429, "1"],
  [4_001, 429, "5"],
])(
  "while the service behind it refuses for %d ms, a create is %d with its words",
  async (ms, status, seconds) => {
    const { remote } = await memoryStore();
    let creates = 0;
    await withStore({
      remote: {
        ...remote,
        findRefusal: async () => (ms > 0 ? { reason: "OpenAI: no quota.", retryAfterMs: ms } : undefined),
      },
      create: async () => {
        creates += 1;
        return { kind: "created", createdAt: 0 };
      },
    });
    const answer = await post(service.baseUrl, "/api/v1/conversations", KEY, { prompt: "x" });
    if (ms > 0) expect(answer.json.error?.message).toMatch(/^OpenAI: no quota\. /);
    expect([answer.status, answer.headers["retry-after"], creates]).toEqual([
      status,
      seconds,
      ms === 0 ? 1 : 0,
    ]);
  },
);
