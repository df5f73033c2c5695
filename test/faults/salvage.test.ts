import { readdirSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import type { Behaviour } from "../support/behaviours.js";
import * as does from "../support/behaviours.js";
import { faultServer } from "../support/fault-server.js";
import { KEY } from "../support/happy-service.js";
import { foldersIn, homeWith, plant } from "../support/home.js";
import { inProcess } from "../support/in-process.js";
import { jsonErrors } from "../support/world.js";
import { observe } from "./cell.js";
import { ID, OTHER_ID, plays } from "./plays.js";

const DATA = { request_id: ID, status: "PENDING", created_at: "2030-01-01T00:00:00+00:00" };
const BODY = does.envelope(DATA);
const TORN = BODY.slice(0, BODY.indexOf("PENDING"));
const PACKED = gzipSync(Buffer.from(`${" ".repeat(4_000)}${BODY}`));
const withId = { request_id: ID };

/** Answers that are no success, with the id of a request that may exist in them. */
const TROUBLED: { what: string; behaviour: Behaviour; else: number }[] = [
  { what: "a body cut short of its length", behaviour: does.truncate({ body: BODY }, TORN.length), else: 11 },
  { what: "a body reset", behaviour: does.truncate({ body: BODY }, TORN.length, "reset"), else: 11 },
  {
    what: "a body of no length cut short",
    behaviour: does.truncate({ body: BODY, length: "none" }, TORN.length),
    else: 11,
  },
  {
    what: "a packed body cut short",
    behaviour: does.truncate({ body: PACKED, headers: { "content-encoding": "gzip" } }, PACKED.length - 9),
    else: 11,
  },
  { what: "no envelope around it", behaviour: does.answer({ body: JSON.stringify(DATA) }), else: 11 },
  { what: "a page with it inside", behaviour: does.answer({ body: `<pre>${BODY}</pre>` }), else: 11 },
  { what: "502 with it", behaviour: does.answer({ status: 502, body: BODY }), else: 11 },
  { what: "504 with it", behaviour: does.answer({ status: 504, body: BODY }), else: 11 },
  { what: "303 with it", behaviour: does.answer({ status: 303, body: BODY }), else: 11 },
  { what: "302 with it", behaviour: does.answer({ status: 302, body: BODY }), else: 11 },
  { what: "408 bare with it", behaviour: does.answer({ status: 408, body: BODY }), else: 11 },
  {
    what: "400 VALIDATION_ERROR with it",
    behaviour: does.answer({ status: 400, body: does.errorEnvelope("VALIDATION_ERROR", "no", withId) }),
    else: 2,
  },
  {
    what: "409 in an envelope with it",
    behaviour: does.answer({ status: 409, body: does.errorEnvelope("DUPLICATE", "no", { data: withId }) }),
    else: 11,
  },
  {
    what: "429 with it",
    behaviour: does.answer({ status: 429, body: does.errorEnvelope("RATE_LIMIT_EXCEEDED", "no", withId) }),
    else: 7,
  },
  {
    what: "200 status:false with it",
    behaviour: does.answer({ body: does.errorEnvelope("TEAPOT", "no", withId) }),
    else: 6,
  },
];

for (const { what, behaviour, else: exit } of TROUBLED) {
  const scene = { play: plays.always(behaviour), command: "create" } as const;

  test(`cell: ${what} · create, and the service knows the id`, async () => {
    const seen = await observe({ ...scene, state: "PROCESSING" });
    expect(seen, seen.stderr).toMatchObject({ code: 0, errors: [], leaks: [] });
    expect(JSON.parse(seen.stdout)).toMatchObject({ request_id: ID, status: "PROCESSING" });
    expect(seen.history).toMatchObject([{ request_id: ID, status: "PROCESSING" }]);
    expect([seen.server.count("create"), seen.server.count("status")]).toEqual([1, 1]);
  });

  test(`cell: ${what} · create, and the service does not know the id`, async () => {
    const seen = await observe({ ...scene, status: does.refuse(404, "REQUEST_NOT_FOUND") });
    expect(seen, seen.stderr).toMatchObject({ code: exit, stdout: "", leaks: [] });
    expect([seen.server.count("create"), seen.server.count("status")]).toEqual([1, 1]);
    if (exit === 11) {
      expect(seen.errors).toMatchObject([{ code: "OUTCOME_UNKNOWN", request_id: ID }]);
      expect(seen.history).toMatchObject([{ request_id: ID, status: "UNKNOWN" }]);
    } else expect(seen.history).toEqual([]);
  });

  test(`cell: ${what} · create, and the service cannot be asked`, async () => {
    const seen = await observe({ ...scene, status: does.reset() });
    expect(seen, seen.stderr).toMatchObject({ code: 11, stdout: "", leaks: [] });
    expect([seen.server.count("create"), seen.server.count("status")]).toEqual([1, 4]);
    expect(seen.errors).toMatchObject([{ code: "OUTCOME_UNKNOWN", request_id: ID }]);
    expect(seen.history).toMatchObject([{ request_id: ID, status: "UNKNOWN" }]);
  });
}

/** What a status call may say of an id without saying that it does not exist, and how often it is asked. */
const UNSAID: [what: string, status: Behaviour, calls: number][] = [
  ["401", does.refuse(401, "INVALID_API_KEY"), 1],
  ["403", does.refuse(403, "FORBIDDEN"), 1],
  ["429", does.refuse(429, "RATE_LIMIT_EXCEEDED"), 1],
  ["400", does.refuse(400, "VALIDATION_ERROR"), 1],
  ["a bare 404", does.html(404), 1],
  ["503", does.html(503), 4],
];
const REFUSALS = [401, 402, 403, 404, 410, 422, 429].map((status) => ({
  status,
  body: does.errorEnvelope("NO", "no", { data: withId }),
}));

for (const [what, status, calls] of UNSAID)
  test.each(REFUSALS)(`cell: $status with an id · create, and its status is ${what}`, async (refusal) => {
    const seen = await observe({ play: plays.always(does.answer(refusal)), command: "create", status });
    expect(seen, seen.stderr).toMatchObject({ code: 11, stdout: "", leaks: [] });
    expect([seen.server.count("create"), seen.server.count("status")]).toEqual([1, calls]);
    expect(seen.errors).toMatchObject([{ code: "OUTCOME_UNKNOWN", request_id: ID }]);
    expect(seen.history).toMatchObject([{ request_id: ID, status: "UNKNOWN" }]);
  });

test.each(["..", "a/b", "a\\u0000b", "", "x".repeat(513)])(
  "cell: an invalid id (%j) · create",
  async (id) => {
    const torn = does.truncate({ body: does.envelope({ request_id: id }), length: 9_000 }, 900);
    const seen = await observe({ play: plays.always(torn), command: "create" });
    expect(seen).toMatchObject({ code: 11, history: [{ request_id: null, status: "UNKNOWN" }] });
    expect(seen.server.count("status")).toBe(0);
  },
);

test.each([
  {
    flags: ["--request-id", ID],
    request_id: ID,
    status: "PENDING",
    left: [{ request_id: ID, status: "PENDING" }],
  },
  { flags: ["--not-created"], request_id: null, status: "NOT_CREATED", left: [] },
])("resolve $flags settles an unknown", async ({ flags, left, ...settled }) => {
  const seen = await observe({ play: plays.always(does.reset()), command: "create" });
  const [unknown] = seen.history;
  const env = { HOME: seen.home, ...foldersIn(seen.home) };
  const resolve = (...words: string[]) => inProcess(["resolve", ...words, "--json"], { env });
  const run = await resolve(unknown?.local_id ?? "", ...flags);
  expect(run).toMatchObject({ code: 0, stderr: "" });
  expect(JSON.parse(run.stdout)).toMatchObject(settled);
  const list = await inProcess(["list", "--json"], { env });
  expect(JSON.parse(list.stdout)).toMatchObject(left);
  expect(JSON.parse(list.stdout)).toHaveLength(left.length);
  expect((await resolve(unknown?.local_id ?? "", ...flags)).code).not.toBe(0);
});

test("unknowns stand first in list, and @last names a newer one and sends nothing", async () => {
  const seen = await observe({ play: plays.always(does.reset()), command: "create" });
  const env = { HOME: seen.home, ...foldersIn(seen.home), RESEARCH_API_KEY: KEY };
  plant(seen.home, { requestId: OTHER_ID, origin: "http://elsewhere.example", createdAt: Date.UTC(2040) });
  const list = await inProcess(["list", "--json"], { env });
  expect(JSON.parse(list.stdout)).toMatchObject([{ status: "UNKNOWN" }, { request_id: OTHER_ID }]);
  const service = { ...env, RESEARCH_BASE_URL: seen.server.url };
  const last = await inProcess(["status", "@last", "--json"], { env: service });
  expect(last).toMatchObject({ code: 11, stdout: "" });
  expect(last.stderr).toContain(seen.history[0]?.local_id);
});

test("without a history an unknown has no name to settle it by, and says where to look", async () => {
  const server = await faultServer(() => does.reset());
  const { home, env } = homeWith({ RESEARCH_NO_HISTORY: "1", RESEARCH_API_KEY: "k" });
  const run = await inProcess(["create", "x", "--json"], { env: { ...env, RESEARCH_BASE_URL: server.url } });
  expect(run).toMatchObject({ code: 11, stdout: "" });
  const [error] = jsonErrors(run.stderr);
  expect(error).toMatchObject({ code: "OUTCOME_UNKNOWN", hint: expect.stringContaining("in no history") });
  expect(error).not.toHaveProperty("local_id");
  expect(readdirSync(home)).toEqual([]);
});
