import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Dialect } from "../../src/dialects/dialect.js";
import { isCutShort, PROVIDERS, waitsForSomebody } from "../../src/dialects/providers.js";
import { research } from "../../src/dialects/research.js";
import { exactJson, parseExact } from "../../src/json/exact-json.js";
import type { CreateBody } from "../../src/protocol/conversation.js";
import { bodyProblem, type ProviderName } from "../support/providers/bodies.js";
import { ProviderDouble } from "../support/providers/double.js";

const loaded = new Map<string, Dialect>([["research", research()]]);
for (const provider of PROVIDERS) loaded.set(provider.name, await provider.load(provider.defaultModel));
const dialect = (name: string) => loaded.get(name) as Dialect;
const NAMES: ProviderName[] = ["openai", "perplexity", "exa", "parallel"];

const prompt = "Why is the sky blue?";
const schema = {
  type: "object",
  properties: { answer: { type: "string" } },
  required: ["answer"],
  additionalProperties: false,
};
const structured: CreateBody = { prompt, structured_output: true, output_schema: schema };

describe("a create", () => {
  const TOOLS = { background: true, store: true, tools: [{ type: "web_search" }] };
  test.each<[ProviderName, CreateBody, string, unknown]>([
    ["openai", { prompt }, "/v1/responses", { model: "gpt-6.1-sol", input: prompt, ...TOOLS }],
    [
      "openai",
      { prompt, model: "m", after: "resp_9" },
      "/v1/responses",
      { model: "m", input: prompt, ...TOOLS, previous_response_id: "resp_9" },
    ],
    [
      "openai",
      structured,
      "/v1/responses",
      {
        model: "gpt-6.1-sol",
        input: prompt,
        ...TOOLS,
        text: { format: { type: "json_schema", name: "result", schema, strict: true } },
      },
    ],
    ["perplexity", { prompt }, "/v1/responses", { preset: "deep-research", input: prompt, background: true }],
    [
      "perplexity",
      { prompt, model: "a/b" },
      "/v1/responses",
      { model: "a/b", input: prompt, background: true },
    ],
    [
      "perplexity",
      structured,
      "/v1/responses",
      {
        preset: "deep-research",
        input: prompt,
        background: true,
        response_format: { type: "json_schema", json_schema: { name: "result", schema, strict: true } },
      },
    ],
    ["exa", { prompt }, "/agent/runs", { query: prompt, effort: "auto" }],
    [
      "exa",
      { ...structured, model: "high", after: "agent_run_9" },
      "/agent/runs",
      { query: prompt, effort: "high", outputSchema: schema, previousRunId: "agent_run_9" },
    ],
    [
      "parallel",
      { prompt },
      "/v1/tasks/runs",
      { input: prompt, processor: "pro", task_spec: { output_schema: { type: "text" } } },
    ],
    [
      "parallel",
      { prompt, structured_output: true },
      "/v1/tasks/runs",
      { input: prompt, processor: "pro", task_spec: { output_schema: { type: "auto" } } },
    ],
    [
      "parallel",
      { ...structured, model: "ultra", after: "i" },
      "/v1/tasks/runs",
      {
        input: prompt,
        processor: "ultra",
        task_spec: { output_schema: { type: "json", json_schema: schema } },
        previous_interaction_id: "i",
      },
    ],
  ])("%s, %j", (name, body, path, expected) => {
    const request = dialect(name).create(body);
    expect(request).toMatchObject({ method: "POST", path, json: true });
    expect(JSON.parse(request.body ?? "")).toEqual(expected);
    expect(bodyProblem(name, expected)).toBeUndefined();
  });

  test("carries the digits of a schema and of an option", () => {
    const own = parseExact(
      '{"type":"object","properties":{"n":{"type":"number","maximum":1e400}},"required":["n"],"additionalProperties":false}',
    );
    for (const name of NAMES)
      expect(dialect(name).create({ prompt, output_schema: own as never }).body).toContain('"maximum":1e400');
    expect(dialect("exa").create({ prompt, options: { budget: parseExact('{"a":1.0}') } }).body).toContain(
      "1.0",
    );
  });

  test("the effort max goes with the header it needs, and no other does", () => {
    expect(dialect("exa").create({ prompt, model: "max" }).headers).toEqual({
      "exa-beta": "agent-max-effort-2026-07-27",
    });
    expect(dialect("exa").create({ prompt }).headers).toBeUndefined();
  });

  test.each([
    ...["stream", "background", "store", "n", "webhook", "webhook_url"].flatMap((one) =>
      NAMES.map((name) => [name, one]),
    ),
    ...["model", "input", "tools", "previous_response_id"].map((one) => ["openai", one]),
    ...["model", "preset", "input", "previous_response_id"].map((one) => ["perplexity", one]),
    ...["query", "effort", "outputSchema", "previousRunId"].map((one) => ["exa", one]),
    ...["input", "processor", "task_spec", "previous_interaction_id"].map((one) => ["parallel", one]),
  ])("%s refuses the option %s", (name = "", option = "") => {
    expect(() => dialect(name).create({ prompt, options: { [option]: 1 } })).toThrow(JSON.stringify(option));
  });

  test.each(["openai", "perplexity", "exa"])("%s refuses structured output without a schema", (name) => {
    expect(() => dialect(name).create({ prompt, structured_output: true })).toThrow(/without a schema/);
  });

  test.each([
    [{ type: "array", items: {} }, "type"],
    [{ ...schema, additionalProperties: true }, "additionalProperties"],
    [{ ...schema, required: [] }, "required"],
    [{ ...schema, properties: { answer: { type: "string", default: "x" } } }, "default"],
    [{ ...schema, properties: { answer: { oneOf: [{ type: "string" }] } } }, "oneOf"],
    [
      { ...schema, properties: { answer: { type: "array", items: { type: "object", properties: {} } } } },
      "additionalProperties",
    ],
    [{ ...schema, $defs: { a: { allOf: [] } } }, "allOf"],
  ])("OpenAI refuses the schema %j by its keyword %s", (wrong, keyword) => {
    expect(() => dialect("openai").create({ prompt, output_schema: wrong })).toThrow(
      `OpenAI does not take this schema: "${keyword}"`,
    );
  });

  test.each([{ model: "m" }, { options: {} }, { after: "x" }])(
    "the interface itself takes no %j",
    (extra) => {
      expect(() => research().create({ prompt, ...extra })).toThrow(/takes no/);
    },
  );
});

test.each([
  ["openai", "stop", "POST", "/v1/responses/a%3Ab/cancel"],
  ["openai", "status", "GET", "/v1/responses/a%3Ab"],
  ["exa", "stop", "POST", "/agent/runs/a%3Ab/cancel"],
  ["exa", "status", "GET", "/agent/runs/a%3Ab"],
  ["parallel", "status", "GET", "/v1/tasks/runs/a%3Ab"],
  ["parallel", "output", "GET", "/v1/tasks/runs/a%3Ab/result?timeout=1"],
] as const)("%s: %s is %s %s", (name, operation, method, path) => {
  expect(dialect(name).request(operation, "a:b")).toEqual({ method, path, json: false });
});

test("Parallel has no way to stop", () => {
  expect(dialect("parallel").request("stop", "trun_1")).toBeUndefined();
});

describe("a state", () => {
  const responses = {
    queued: "PENDING",
    in_progress: "PROCESSING",
    completed: "COMPLETED",
    failed: "FAILED",
    cancelled: "STOPPED",
  };
  const WORDS: Record<string, Record<string, string>> = {
    openai: { ...responses, incomplete: "FAILED", pondering: "pondering", constructor: "constructor" },
    perplexity: { ...responses, requires_action: "PROCESSING", cancelling: "PROCESSING" },
    exa: {
      queued: "PENDING",
      running: "PROCESSING",
      completed: "COMPLETED",
      failed: "FAILED",
      cancelled: "STOPPED",
    },
    parallel: {
      queued: "PENDING",
      running: "PROCESSING",
      cancelling: "PROCESSING",
      action_required: "PROCESSING",
      completed: "COMPLETED",
      failed: "FAILED",
      cancelled: "STOPPED",
    },
  };
  test.each(
    NAMES.flatMap((name) => Object.entries(WORDS[name] ?? {}).map(([word, ours]) => [name, word, ours])),
  )("%s: %s is %s", (name = "", word = "", ours = "") => {
    const id = name === "parallel" ? { run_id: "r1" } : { id: "r1" };
    expect(dialect(name).data("status", { ...id, status: word })).toMatchObject({
      request_id: "r1",
      status: ours,
      provider_status: word,
    });
  });

  test("cut short and waiting are told by the provider's word", () => {
    expect(isCutShort({ status: "FAILED", provider_status: "incomplete" })).toBe(true);
    expect(isCutShort({ status: "FAILED", provider_status: "failed" })).toBe(false);
    expect(waitsForSomebody({ provider_status: "action_required" })).toBe(true);
    expect(waitsForSomebody({ provider_status: "running" })).toBe(false);
  });

  test.each(NAMES)("%s: an answer without a state or an id is none", (name) => {
    for (const value of [null, [], "x", {}, { status: 7 }, { error: {} }]) {
      expect(dialect(name).data("status", value)).toEqual(expect.any(String));
      expect(dialect(name).data("create", value)).toEqual(expect.any(String));
    }
  });
});

describe("a result", () => {
  const of = async (name: ProviderName, body: object, word: string) => {
    const double = await ProviderDouble.start(name);
    const id = double.add(body as Record<string, unknown>);
    const answer = double.answerAbout(id, word);
    const output = {
      content: "An answer",
      basis: [{ citations: [{ url: "https://a.example/one", title: "One" }] }],
    };
    return dialect(name).data(
      name === "parallel" ? "output" : "status",
      name === "parallel" ? { run: answer, output } : answer,
    );
  };
  test.each(NAMES)("%s: text, sources, time and own fields", async (name) => {
    const asked = { input: "why", query: "why" };
    expect(await of(name, asked, "completed")).toMatchObject({
      status: "COMPLETED",
      provider_status: "completed",
      created_at: "2030-01-01T00:00:00.000Z",
      output: expect.stringContaining("An answer"),
      sources: expect.arrayContaining([{ url: "https://a.example/one", title: "One" }]),
    });
  });

  test.each<[ProviderName, object]>([
    ["openai", { input: "w", text: { format: { type: "json_schema", schema } } }],
    ["perplexity", { input: "w", response_format: { type: "json_schema", json_schema: { schema } } }],
    ["exa", { query: "w", outputSchema: schema }],
  ])("%s: structured", async (name, asked) => {
    expect(await of(name, asked, "completed")).toMatchObject({ output: { answer: "w" } });
  });

  test("cost, where it is given in dollars", async () => {
    expect(await of("perplexity", { input: "w" }, "completed")).toMatchObject({ cost_dollars: 0.42 });
    expect(await of("exa", { query: "w" }, "running")).toMatchObject({ cost_dollars: 0.42 });
    expect(await of("openai", { input: "w" }, "completed")).not.toHaveProperty("cost_dollars");
  });

  test("what was cut short has its text and the reason", async () => {
    expect(await of("openai", { input: "w" }, "incomplete")).toMatchObject({
      status: "FAILED",
      output: "An answer to: w",
      stop_reason: "max_output_tokens",
    });
    expect(
      dialect("exa").data("status", {
        id: "a",
        status: "completed",
        stopReason: "budget_reached",
        output: { text: "x" },
      }),
    ).toMatchObject({ status: "COMPLETED", stop_reason: "budget_reached" });
  });

  test("exact digits are passed on", () => {
    const answer = parseExact(
      '{"id":"a","status":"completed","n":1.0,"output":{"structured":{"big":12345678901234567890.10}}}',
    );
    expect(exactJson(dialect("exa").data("status", answer))).toBe(
      '{"request_id":"a","status":"COMPLETED","provider_status":"completed","output":{"big":12345678901234567890.10},"id":"a","n":1.0}',
    );
  });
});

describe("an error", () => {
  const openai = (code: string | null, type: string, message = "no") => ({
    error: { message, type, code, param: null },
  });
  const exa = (tag: string, error: unknown = "no") => ({ requestId: "r", error, tag });
  const parallel = (message: string) => ({ type: "error", error: { ref_id: "r", message, detail: null } });
  test.each<
    [string, "create" | "status" | "output", number, unknown, string | undefined, string | undefined]
  >([
    [
      "openai",
      "create",
      401,
      openai("invalid_api_key", "invalid_request_error"),
      undefined,
      "invalid_api_key",
    ],
    [
      "openai",
      "create",
      404,
      openai("model_not_found", "invalid_request_error"),
      "invalid-input",
      "model_not_found",
    ],
    ["openai", "status", 404, openai(null, "invalid_request_error"), undefined, "invalid_request_error"],
    [
      "openai",
      "create",
      400,
      openai("invalid_json_schema", "invalid_request_error"),
      "invalid-input",
      "invalid_json_schema",
    ],
    [
      "openai",
      "create",
      429,
      openai("credit_balance_exhausted", "insufficient_quota"),
      "no-credit",
      "insufficient_quota",
    ],
    [
      "openai",
      "create",
      429,
      openai("project_spend_limit_exceeded", "x"),
      "no-credit",
      "project_spend_limit_exceeded",
    ],
    [
      "openai",
      "create",
      429,
      openai("rate_limit_exceeded", "requests", "add a payment method to your balance"),
      undefined,
      "rate_limit_exceeded",
    ],
    ["openai", "create", 429, openai("slow_down", "x"), undefined, "slow_down"],
    [
      "perplexity",
      "create",
      401,
      openai("unauthorized", "x", "You have insufficient credits"),
      "no-credit",
      "unauthorized",
    ],
    ["perplexity", "status", 402, openai(null, "x"), "no-credit", "x"],
    ["exa", "create", 402, exa("NO_MORE_CREDITS"), "no-credit", "NO_MORE_CREDITS"],
    ["exa", "create", 403, exa("API_KEY_BUDGET_EXCEEDED"), "no-credit", "API_KEY_BUDGET_EXCEEDED"],
    [
      "exa",
      "create",
      400,
      exa("", { type: "t", code: "INVALID", message: "bad" }),
      "invalid-input",
      "INVALID",
    ],
    ["exa", "create", 429, exa("RATE_LIMIT"), undefined, "RATE_LIMIT"],
    ["parallel", "create", 402, parallel("no funds"), "no-credit", undefined],
    ["parallel", "create", 422, parallel("bad schema"), "invalid-input", undefined],
    ["parallel", "create", 403, parallel("not entitled"), undefined, undefined],
    ["parallel", "output", 408, parallel("still active"), "refused", undefined],
    ["parallel", "status", 408, parallel("slow"), undefined, undefined],
  ])("%s, %s, HTTP %d %j: %s", (name, operation, status, value, kind, code) => {
    expect(dialect(name).fault(operation, status, value)).toMatchObject({
      kind,
      code,
      message: expect.any(String),
    });
  });

  test("a key that is quoted behind asterisks is left out", () => {
    const quoted = openai(
      "invalid_api_key",
      "x",
      "Incorrect API key provided: sk-ab***********wxyz. Get one.",
    );
    expect(dialect("openai").fault("status", 401, quoted)?.message).toBe(
      "Incorrect API key provided: [key] Get one.",
    );
  });

  test("a 401 of Perplexity names both causes", () => {
    for (const value of [undefined, openai("x", "y", "Unauthorized")])
      expect(dialect("perplexity").fault("create", 401, value)?.message).toMatch(/key is invalid.*no credit/);
  });
});

describe("salvage", () => {
  test.each(NAMES)("%s: an answer that is cut at any byte gives its id or none", async (name) => {
    const double = await ProviderDouble.start(name);
    const asked = { input: "why", query: "why", previous_response_id: "resp_before" };
    const id = double.add(asked);
    const whole = JSON.stringify(double.answerAbout(id, "completed"));
    let found = 0;
    for (let end = 0; end <= whole.length; end++) {
      const salvaged = dialect(name).salvage(whole.slice(0, end));
      if (salvaged !== undefined) found++;
      expect([undefined, id]).toContain(salvaged);
    }
    expect(found).toBeGreaterThan(0);
  });

  test.each([
    ["openai", '{"previous_response_id":"resp_1"', undefined],
    ["openai", '{"id":"req_1","id":"msg_2"', undefined],
    ["openai", '{"error":{"id":"req_1"},"response":{"id": "resp_9"', "resp_9"],
    ["perplexity", '{"response_id":"resp_7"', "resp_7"],
    ["exa", '{"requestId":"agent_run_1"', undefined],
    ["exa", '{"id":"agent_run_1:2"', "agent_run_1:2"],
    ["parallel", '{"interaction_id":"trun_1"', undefined],
    ["parallel", '{"run_id":"trun_../x"', undefined],
  ])("%s: %s gives %j", (name, torn, id) => {
    expect(dialect(name).salvage(torn)).toBe(id);
  });
});

test("whatever JSON an answer is, reading it never throws, and an id in it stood there", () => {
  const word = fc.constantFrom(
    "id",
    "run_id",
    "response_id",
    "status",
    "output",
    "content",
    "usage",
    "error",
    "message",
    "code",
    "createdAt",
    "created_at",
    "grounding",
    "citations",
    "annotations",
    "run",
    "structured",
    "type",
    "costDollars",
    "text",
    "basis",
  );
  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      { maxDepth: 5 },
      fc.jsonValue(),
      fc.constantFrom("completed", "message", "resp_1", "trun_2"),
      fc.array(tie("any"), { maxLength: 4 }),
      fc.dictionary(word, tie("any"), { maxKeys: 8 }),
    ),
  })).any;
  fc.assert(
    fc.property(
      value,
      fc.constantFrom(...loaded.keys()),
      fc.constantFrom("create", "status", "stop", "output" as const),
      fc.integer({ min: 200, max: 599 }),
      (json, name, operation, status) => {
        const text = JSON.stringify(json);
        const parsed = parseExact(text);
        const data = dialect(name).data(operation, parsed);
        dialect(name).fault(operation, status, parsed);
        const salvaged = dialect(name).salvage(text);
        if (salvaged !== undefined) expect(text).toContain(JSON.stringify(salvaged));
        if (typeof data === "string") return;
        JSON.parse(exactJson(data));
        if (data.request_id !== undefined && typeof data.request_id === "string")
          expect(text).toContain(JSON.stringify(data.request_id));
      },
    ),
    { numRuns: 3_000, seed: 20 },
  );
});

test("a dialect never sends to another path than its service's, and its key stands in one header", () => {
  for (const [, { keyHeader, request, probeId }] of loaded) {
    expect(keyHeader[0]).toMatch(/^(?:authorization|x-api-key)$/);
    expect(request("status", probeId)?.path).toMatch(/^\/(?:api\/)?(?:v1|agent)\//);
  }
});
