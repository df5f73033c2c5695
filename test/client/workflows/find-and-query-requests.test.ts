import { describe, expect, test } from "vitest";
import { RefusedError } from "../../../src/client/calls/errors.js";
import { ResearchClient } from "../../../src/client/calls/research-client.js";
import { findProvider } from "../../../src/client/dialects/providers.js";
import { History } from "../../../src/client/store/history/history.js";
import type { HistoryEntry } from "../../../src/client/store/history/history-records.js";
import { UnresolvedCreateError } from "../../../src/client/workflows/errors.js";
import { readKeptResult } from "../../../src/client/workflows/fetch-results.js";
import {
  explainForeign404,
  findEntry,
  findFollowUpId,
  findRecordedAt,
  findTarget,
  parseStructuredOutput,
  requireEntry,
} from "../../../src/client/workflows/find-and-query-requests.js";
import { parseExact, stringifyExact } from "../../../src/core/json/exact-json.js";
import { accountWith } from "../../support/account.js";
import { ok } from "../../support/behaviours.js";
import { faultServer } from "../../support/fault-server.js";
import { folderWith } from "../../support/folder.js";

const ORIGIN = "https://a.example";

/** A history with these request ids. */
function accountWithIds(...ids: string[]) {
  let now = Date.UTC(2030, 0, 1);
  const history = new History(folderWith(), () => now);
  const begin = (prompt: string) => {
    now += 1_000;
    return history.begin({ origin: ORIGIN, profile: null, apiKey: "k", body: { prompt } });
  };
  for (const id of ids) begin(id).recordCreated(id, {});
  return { ...accountWith({ history, origin: ORIGIN }), history, begin };
}
const none = accountWith({ origin: ORIGIN });

test.each([
  ["abcd-1", "abcd-1"],
  ["abcd", "abcd-1"],
  ["abc", undefined],
  ["a", undefined],
  ["b12", "b12"],
  ["zzzz", undefined],
  ["@last", "b12"],
])("of the requests abcd-1 and b12, %j names %j", (text, expected) => {
  expect(findEntry(accountWithIds("abcd-1", "b12"), text)?.request_id).toBe(expected);
});

test("a short id is whole, and so is a local id", () => {
  const given = accountWithIds("ab");
  expect(findEntry(given, "ab")?.request_id).toBe("ab");
  const local = given.history.findNewest(() => true)?.local_id ?? "";
  expect(findEntry(given, local)?.request_id).toBe("ab");
});

test.each([
  ["resp_abcd", "resp_abcd1"],
  ["abcd", "resp_abcd1"],
  ["resp_abc", undefined],
  ["resp_", undefined],
  ["resp", undefined],
  ["agent_run_", undefined],
  ["agent_run_wxyz", "agent_run_wxyz2"],
  ["wxyz…", "agent_run_wxyz2"],
  ["resp_abcd…", "resp_abcd1"],
])("the prefix of a provider neither counts nor is needed: %j names %j", (text, expected) => {
  expect(findEntry(accountWithIds("resp_abcd1", "agent_run_wxyz2"), text)?.request_id).toBe(expected);
});

test("an id that ends in … is a beginning, and never goes to the service", () => {
  const given = accountWithIds("abcd-1", "abcd-2");
  expect(findTarget(given, "abcd-1…")).toMatchObject({ requestId: "abcd-1" });
  expect(() => findTarget(given, "abcd…")).toThrow(
    expect.objectContaining({ code: "USAGE", hint: "Type more characters of the id." }),
  );
  for (const id of ["zzzz", "abc"]) {
    const message = `no id in the history of this machine begins with ${id}`;
    const error = expect.objectContaining({
      code: "NOT_FOUND",
      message,
      hint: "`research list` shows the requests of this machine.",
    });
    expect(() => findTarget(given, `${id}…`)).toThrow(error);
  }
  for (const text of ["…", "ab…cd"])
    expect(() => findTarget(given, text)).toThrow(
      expect.objectContaining({ code: "USAGE", hint: expect.stringContaining("letters, digits") }),
    );
});

test("of an id that two services gave, the one of the service in use is meant, else the newest", () => {
  const { history } = accountWithIds("same-1");
  history
    .begin({ origin: "https://b.example", profile: null, apiKey: "k", body: { prompt: "b" } })
    .recordCreated("same-1", {});
  const made = (origin: string) => findEntry(accountWith({ history, origin }), "same-1")?.origin;
  expect([ORIGIN, "https://b.example", "https://c.example"].map(made)).toEqual([
    ORIGIN,
    "https://b.example",
    "https://b.example",
  ]);
});

test("by the beginning of its local id a request is in the state last seen", () => {
  const given = accountWithIds("abcd-1");
  const [entry] = given.history.find("abcd-1");
  if (entry) given.history.observe(entry, "COMPLETED");
  expect(findEntry(given, entry?.local_id.slice(0, 12) ?? "")?.status).toBe("COMPLETED");
});

test("a prefix of several ids names none of them, and says which there are", () => {
  const given = accountWithIds("abcd-1", "abcd-2");
  expect(() => findEntry(given, "abcd")).toThrow('"abcd" is the beginning of 2 ids: ');
  expect(() => findEntry(given, "abcd")).toThrow(/: abcd-[12], abcd-[12]$/);
  expect(() => findEntry(given, "abcd")).toThrow(
    expect.objectContaining({ code: "USAGE", hint: "Type more characters of the id." }),
  );
});

test.each(["..", "a/b", ""])("%j is an invalid id", (text) => {
  expect(() => findEntry(accountWithIds(), text)).toThrow(`invalid request id: ${JSON.stringify(text)}`);
  expect(() => findEntry(none, text)).toThrow(
    expect.objectContaining({ code: "USAGE", hint: expect.stringContaining("letters, digits") }),
  );
});

test("without a history an id is in none, and @last names nothing", () => {
  expect(findEntry(none, "abcd")).toBeUndefined();
  for (const given of [none, accountWithIds()]) {
    expect(() => findEntry(given, "@last")).toThrow(
      expect.objectContaining({ code: "NOT_FOUND", hint: expect.stringContaining("research run") }),
    );
    expect(() => findEntry(given, "@last")).toThrow("@last: no request is recorded on this machine");
  }
  const elsewhere = { ...accountWithIds("abcd"), origin: "https://b.example" };
  const others = "@last: no request to the account in use is recorded on this machine";
  expect(() => findEntry(elsewhere, "@last")).toThrow(others);
});

test("@last needs an account in use where something is sent, an id does not", () => {
  const unset = accountWith({
    ...{ history: accountWithIds("abcd-1").history, isHere: () => true, isOwn: () => true },
    get origin(): string {
      throw new Error("no base URL");
    },
  });
  expect(() => findTarget(unset, "@last")).toThrow("no base URL");
  expect(findTarget(unset, "abcd").requestId).toBe("abcd-1");
  expect(findEntry(unset, "@last")?.request_id).toBe("abcd-1");
  expect(findTarget(accountWithIds("abcd-1"), "@last").requestId).toBe("abcd-1");
});

test("what must be in the history, and is not, is an error", () => {
  expect(requireEntry(accountWithIds("abcd-1"), "abcd").request_id).toBe("abcd-1");
  expect(() => requireEntry(accountWithIds("abcd-1"), "zzzz")).toThrow("zzzz is not in the history");
  expect(() => requireEntry(none, "zzzz")).toThrow(
    expect.objectContaining({
      code: "NOT_FOUND",
      hint: "`research list` shows the requests of this machine.",
    }),
  );
});

describe("a target is", () => {
  test("the request of an entry, with the entry", () => {
    const target = findTarget(accountWithIds("abcd-1"), "abcd");
    expect(target).toMatchObject({ requestId: "abcd-1", entry: { request_id: "abcd-1" } });
  });

  test("any well-formed id, in the history or not", () => {
    const account = accountWithIds();
    expect(findTarget(account, "zzzz")).toEqual({ requestId: "zzzz", entry: undefined, account });
  });

  test("no create whose outcome is unknown", () => {
    const given = accountWithIds("abcd-1");
    const { localId } = given.begin("x");
    for (const text of [localId, "@last"]) {
      expect(() => findTarget(given, text)).toThrow(UnresolvedCreateError);
      expect(() => findTarget(given, text)).toThrow(
        expect.objectContaining({
          localId,
          detail: expect.stringMatching(`create ${localId} was sent at 2`),
        }),
      );
    }
  });

  test("the id that was found in the broken answer of one, but not as @last", () => {
    const given = accountWithIds();
    given.begin("x").recordSalvaged("abcd-9");
    expect(findTarget(given, "abcd")).toMatchObject({ requestId: "abcd-9", entry: undefined });
    expect(() => findTarget(given, "@last")).toThrow(expect.objectContaining({ requestId: "abcd-9" }));
  });

  test("no create that is settled as never made", () => {
    const given = accountWithIds();
    const create = given.begin("x");
    create.recordNotCreated();
    expect(() => findTarget(given, create.localId)).toThrow(
      expect.objectContaining({ code: "NOT_FOUND", hint: "`research rerun` submits it again." }),
    );
    expect(() => findTarget(given, create.localId)).toThrow(`${create.localId} was recorded as not created`);
  });
});

test("a result that is written as text is the value of its schema, and every number keeps its digits", () => {
  const text = '{"provider_status":"done","cost":1.0,"output":"{\\"a\\": 2.0}"}';
  const data = parseExact(text) as Record<string, unknown>;
  expect(parseStructuredOutput(data, null)).toBe(data);
  for (const other of [{ ...data, output: "no JSON" }, { ...data, output: 7 }, { output: "{}" }])
    expect(parseStructuredOutput(other, {})).toBe(other);
  const asked = parseStructuredOutput(data, {});
  expect(asked).toEqual({ provider_status: "done", cost: 1, output: { a: 2 } });
  expect(stringifyExact(asked)).toBe('{"provider_status":"done","cost":1.0,"output":{"a":2.0}}');
});

test("a follow-up names the request's id, or the field that the provider asks for", async () => {
  const server = await faultServer(() => ok({ status: "COMPLETED", interaction_id: "i-2" }));
  const client = new ResearchClient({ baseUrl: server.url, apiKey: "k" });
  const given = { ...accountWithIds(), client, provider: findProvider("openai") };
  const parallel = { ...given, provider: findProvider("parallel") };
  given.begin("a").recordCreated("abcd-1", {});
  given.begin("b").recordCreated("efgh-1", { interaction_id: "i-1" });
  expect(await findFollowUpId(given, "abcd", {})).toBe("abcd-1");
  expect(await findFollowUpId({ ...given, provider: undefined }, "abcd", {})).toBe("abcd-1");
  expect(await findFollowUpId(parallel, "efgh", {})).toBe("i-1");
  expect(server.count("status")).toBe(0);
  expect(await findFollowUpId(parallel, "abcd", {})).toBe("i-2");
  expect(await findFollowUpId(parallel, "not-recorded", {})).toBe("i-2");
  const unknown = "a follow-up needs the interaction_id of abcd-1, which is not known";
  const offline = findFollowUpId(parallel, "abcd", { isOffline: true });
  await expect(offline).rejects.toMatchObject({ code: "USAGE", message: unknown });
  const aborted = { signal: AbortSignal.abort("enough") };
  await expect(findFollowUpId(parallel, "abcd", aborted)).rejects.toBe("enough");
  const elsewhere = { ...parallel, origin: "https://b.example" };
  await expect(findFollowUpId(elsewhere, "efgh", {})).rejects.toMatchObject({
    code: "USAGE",
    message: expect.stringMatching(
      /^invalid value for --after: i?.* was created at .* and not at https:\/\/b\.example$/,
    ),
    hint: expect.stringMatching(/^A follow-up must go to the service that created the request/),
  });
});

test.each<[string, Partial<HistoryEntry> | undefined, number | undefined, object | undefined]>([
  ["at this service", { base_path: "/v1" }, 5_000, { output: "x" }],
  ["at another one", { base_path: "/v2" }, 0, { output: "x" }],
  ["at one without a path", {}, 0, undefined],
  ["in no history", undefined, undefined, { output: "x" }],
])("when a request %s was recorded, and what is kept of it here", (_, at, when, kept) => {
  const history = new History(folderWith(), () => Date.now());
  const account = accountWith({ history, origin: ORIGIN, basePath: "/v1" });
  for (const path of ["/v1", "/v2"]) history.results.keep(ORIGIN + path, "id", '{"output":"x"}');
  const entry = at && ({ origin: ORIGIN, sent_at: "1970-01-01T00:00:05.000Z", ...at } as HistoryEntry);
  const target = { requestId: "id", entry, account };
  expect([findRecordedAt(target), readKeptResult(target)]).toEqual([when, kept]);
  expect(readKeptResult({ ...target, requestId: "other" })).toBeUndefined();
  expect(readKeptResult({ ...target, account: { ...account, history: undefined } })).toBeUndefined();
});

test.each<[string, Partial<HistoryEntry> | undefined, string]>([
  ["here", { origin: ORIGIN, profile: "p" }, "a.b is not known."],
  ["without a record", undefined, "a.b is not known."],
  [
    "elsewhere",
    { origin: "https://b.example" },
    `a.b is not known: id was created at https://b.example and not at ${ORIGIN}; add --base-url https://b.example`,
  ],
  [
    "elsewhere with a profile",
    { origin: "https://b.example", profile: "q" },
    `a.b is not known: id was created at https://b.example and not at ${ORIGIN}; add --profile q`,
  ],
  [
    "with another profile",
    { origin: ORIGIN, profile: "q" },
    `a.b is not known: id was created at ${ORIGIN} with profile q; add --profile q`,
  ],
])("a 404 of a request that was made %s says where it is", (_, entry, message) => {
  const facts = { httpStatus: 404, hint: "h" };
  const error = new RefusedError("not-found", true, "X", "a.b is not known.", facts);
  const account = accountWith({ origin: ORIGIN, profile: "p" });
  const target = { requestId: "id", entry: entry as HistoryEntry | undefined, account };
  const named = explainForeign404(error, target);
  const hint = message.endsWith(".") ? "h" : undefined;
  expect(named).toMatchObject({ kind: "not-found", code: "X", httpStatus: 404, message, hint });
  for (const other of [new Error("x"), new RefusedError("refused", true, "X", "x")])
    expect(explainForeign404(other, target)).toBe(other);
});
