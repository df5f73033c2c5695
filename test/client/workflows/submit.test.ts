import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ResearchClient } from "../../../src/client/calls/client.js";
import { History } from "../../../src/client/store/history/history.js";
import type { Ports } from "../../../src/client/workflows/ports.js";
import { submit } from "../../../src/client/workflows/submit.js";
import { systemClock } from "../../../src/ground/clock.js";
import { LocalError } from "../../../src/ground/files/local-error.js";
import { answer, type Behaviour, envelope, ok, refuse, reset } from "../../support/behaviours.js";
import { faultServer } from "../../support/fault-server.js";
import { folderWith } from "../../support/folder.js";
import { KEY } from "../../support/happy-service.js";

const BODY = { prompt: "x" };

type Script = Behaviour | ((operation: string) => Behaviour);

/** A machine whose service answers so. */
async function machine(behaviour: Script, state = join(folderWith(), "state")) {
  const server = await faultServer((operation) =>
    typeof behaviour === "function" ? behaviour(operation) : behaviour,
  );
  const client = new ResearchClient({ baseUrl: server.url, apiKey: KEY });
  const history = new History(state, () => Date.now());
  const { origin } = client;
  const ports: Ports = {
    outputField: "output",
    ...{ client, history, clock: systemClock, origin, apiKey: KEY, profile: null, unrecorded: false },
  };
  return { server, history, origin, ports };
}

/** One create that is answered so: its error, and what the history holds afterwards. */
async function submitted(behaviour: Script, options: Parameters<typeof submit>[2] = {}) {
  const { server, history, origin, ports } = await machine(behaviour);
  const code = await submit(ports, BODY, options).then(
    () => undefined,
    (error) => error.code ?? error.message,
  );
  const [entry] = history.list({ limit: 1 });
  const [unsettled] = history.same({ origin, apiKey: KEY, body: BODY }, 0).unsettled;
  return {
    ...{ code, status: entry?.status, sent: server.count("create") },
    counted: history.hour({ origin, apiKey: KEY }, 1).attempts.length,
    sender: unsettled && unsettled.sender !== undefined,
  };
}

const WITH_ID = answer({ status: 500, body: envelope({ request_id: "a", status: "PENDING" }) });

test.each<[string, Script, object]>([
  [
    "answered with an error in which an id stands that the service knows",
    (operation) => (operation === "create" ? WITH_ID : ok({ status: "PROCESSING" })),
    { status: "PROCESSING", counted: 1 },
  ],
  [
    "made: it is in the history",
    ok({ request_id: "a", status: "PENDING" }),
    { status: "PENDING", counted: 1 },
  ],
  ["refused: it counts", refuse(400, "VALIDATION_ERROR"), { code: "VALIDATION_ERROR", counted: 1 }],
  [
    "refused for its rate: it does not count",
    refuse(429, "RATE_LIMIT_EXCEEDED", { "retry-after": 5 }),
    { counted: 0 },
  ],
  [
    "lost: it is an unknown outcome that no process waits for",
    reset(),
    { code: "OUTCOME_UNKNOWN", status: "UNKNOWN", counted: 1, sender: false },
  ],
])("a create that is %s", async (_, behaviour, expected) => {
  const found = await submitted(behaviour);
  expect(found).toMatchObject({ sent: 1, ...expected });
  if (!("status" in expected)) expect(found.status).toBeUndefined();
});

test("what the caller throws once the intent is recorded keeps it from being sent, and nothing is left", async () => {
  const onIntent = () => {
    throw new Error("not now");
  };
  const found = await submitted(ok({ request_id: "a" }), { onIntent });
  expect(found).toMatchObject({ code: "not now", sent: 0, counted: 0, status: undefined });
});

test("one that is aborted before it is sent leaves nothing", async () => {
  const found = await submitted(ok({ request_id: "a" }), { signal: AbortSignal.abort(new Error("enough")) });
  expect(found).toMatchObject({ code: "enough", sent: 0, counted: 0, status: undefined });
});

test("an id that cannot be recorded is given all the same, with why", async () => {
  const state = join(folderWith(), "state");
  const onIntent = () => {
    rmSync(join(state, "open"), { recursive: true });
    mkdirSync(join(state, "history.jsonl"));
  };
  const { ports } = await machine(ok({ request_id: "a" }), state);
  const { data, notSaved } = await submit(ports, BODY, { onIntent });
  expect([data.request_id, notSaved]).toEqual(["a", expect.any(LocalError)]);
});
