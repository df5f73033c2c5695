import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Dialect } from "../../../src/client/dialects/dialect.js";
import {
  findProvider,
  hasNoResult,
  isModelRefusal,
  isResultCutShort,
  isWaitingForPerson,
  PROVIDERS,
} from "../../../src/client/dialects/providers.js";
import { createInterfaceDialect } from "../../../src/client/dialects/research-interface.js";
import { parseExact, stringifyExact } from "../../../src/core/json/exact-json.js";
import type { CreateBody, Data, Operation } from "../../../src/core/protocol/conversation.js";
import { NAMES } from "../../providers/rows.js";
import { bodyProblem, type ProviderName } from "../../support/providers/bodies.js";
import { ProviderDouble } from "../../support/providers/double.js";

const loaded = new Map<string, Dialect>([["research", createInterfaceDialect()]]);
for (const provider of PROVIDERS) loaded.set(provider.name, await provider.load(provider.defaultModel));
const dialect = (name: string) => loaded.get(name) as Dialect;

const prompt = "Why is the sky blue?";
const schema = {
  type: "object",
  properties: { answer: { type: "string", description: "what is asked for" } },
  required: ["answer"],
  additionalProperties: false,
};
const structured: CreateBody = { prompt, structured_output: true, output_schema: schema };

describe("a create", () => {
  const GEMINI = {
    ...{ agent: "deep-research-preview-04-2026", input: prompt, background: true, store: true },
    agent_config: { type: "deep-research", thinking_summaries: "none", visualization: "off" },
  };
  const search = { type: "web_search" };
  const OPENAI = { model: "gpt-6.2-sol", input: prompt, background: true, store: true, tools: [search] };
  const tools = [{ type: "x" }, search];
  const PERPLEXITY = { input: prompt, background: true };
  const PARALLEL = { input: prompt, processor: "pro" };
  const form = { name: "result", schema, strict: true };
  const PATHS = {
    ...{ openai: "/v1/responses", perplexity: "/v1/responses", exa: "/agent/runs" },
    ...{ parallel: "/v1/tasks/runs", gemini: "/v1beta/interactions", tavily: "/research" },
  };
  test.each<[ProviderName, CreateBody, unknown]>([
    ["openai", { prompt }, OPENAI],
    ["openai", { prompt, model: "m", after: "r" }, { ...OPENAI, model: "m", previous_response_id: "r" }],
    ["openai", { prompt, options: { store: false } }, { ...OPENAI, store: false }],
    ["openai", { prompt, options: { tools } }, { ...OPENAI, tools }],
    ["openai", structured, { ...OPENAI, text: { format: { type: "json_schema", ...form } } }],
    ["perplexity", { prompt }, { ...PERPLEXITY, preset: "high" }],
    [
      "perplexity",
      { prompt, model: "a/b", after: "r" },
      { ...PERPLEXITY, model: "a/b", previous_response_id: "r" },
    ],
    [
      "perplexity",
      structured,
      { ...PERPLEXITY, preset: "high", response_format: { type: "json_schema", json_schema: form } },
    ],
    ["exa", { prompt }, { query: prompt, effort: "medium" }],
    [
      "exa",
      { ...structured, model: "high", after: "agent_run_9" },
      { query: prompt, effort: "high", outputSchema: schema, previousRunId: "agent_run_9" },
    ],
    ["parallel", { prompt }, { ...PARALLEL, task_spec: { output_schema: { type: "text" } } }],
    [
      "parallel",
      { prompt, structured_output: true },
      { ...PARALLEL, task_spec: { output_schema: { type: "auto" } } },
    ],
    [
      "parallel",
      { ...structured, model: "ultra", after: "i" },
      {
        ...{ ...PARALLEL, processor: "ultra", previous_interaction_id: "i" },
        task_spec: { output_schema: { type: "json", json_schema: schema } },
      },
    ],
    ["gemini", { prompt }, GEMINI],
    [
      "gemini",
      { ...structured, model: "a", after: "v1_9" },
      {
        ...{ ...GEMINI, agent: "a", previous_interaction_id: "v1_9" },
        response_format: { type: "text", mime_type: "application/json", schema },
      },
    ],
    ["tavily", { prompt }, { input: prompt, model: "mini" }],
    ["tavily", { ...structured, model: "pro" }, { input: prompt, model: "pro", output_schema: schema }],
  ])("%s, %j", (name, body, expected) => {
    const request = dialect(name).create(body);
    expect(request).toMatchObject({ method: "POST", path: PATHS[name], json: true });
    expect(JSON.parse(request.body ?? "")).toEqual(expected);
    expect(bodyProblem(name, expected)).toBeUndefined();
  });

  test("carries the digits of a schema and of an option", () => {
    const schema = parseExact(
      '{"type":"object","properties":{"n":{"type":"number","description":"d","maximum":1e400}},"required":["n"],"additionalProperties":false}',
    );
    for (const name of NAMES)
      expect(dialect(name).create({ prompt, output_schema: schema as never }).body).toContain(
        '"maximum":1e400',
      );
    expect(
      dialect("exa").create({ prompt, model: "auto", options: { budget: parseExact('{"a":1.0}') } }).body,
    ).toContain("1.0");
  });

  test("a budget goes with a metered effort of Exa's only", () => {
    const options = { budget: { maxCostDollars: 2 } };
    for (const model of ["auto", "ultra"])
      expect(dialect("exa").create({ prompt, model, options }).body).toContain('"maxCostDollars":2');
    for (const model of [undefined, "high"])
      expect(() => dialect("exa").create({ prompt, ...(model && { model }), options })).toThrow(
        expect.objectContaining({ hint: expect.stringContaining("--model auto") }),
      );
  });

  test("the effort max goes with the header it needs, and no other does", () => {
    const headers = { "exa-beta": "agent-max-effort-2026-07-27" };
    expect(dialect("exa").create({ prompt, model: "max" }).headers).toEqual(headers);
    expect(dialect("exa").create({ prompt }).headers).toBeUndefined();
  });

  test("every request to Gemini names the form of its answers", () => {
    const { create, request } = dialect("gemini");
    for (const { headers } of [create({ prompt }), request("status", "v1_1"), request("stop", "v1_1")].map(
      Object,
    ))
      expect(headers).toEqual({ "api-revision": "2026-05-20" });
  });

  test.each([
    ...["stream", "background", "store", "n", "webhook", "webhook_url"].flatMap((one) =>
      NAMES.map((name) => [name, one]),
    ),
    ...["model", "input", "previous_response_id"].map((one) => ["openai", one]),
    ...["model", "preset", "input", "previous_response_id"].map((one) => ["perplexity", one]),
    ...["query", "effort", "outputSchema", "previousRunId"].map((one) => ["exa", one]),
    ...["input", "processor", "task_spec", "previous_interaction_id"].map((one) => ["parallel", one]),
    ...["agent", "agent_config", "response_format"].map((one) => ["gemini", one]),
    ...["input", "model", "output_schema"].map((one) => ["tavily", one]),
  ])("%s refuses the option %s", (name = "", option = "") => {
    const title = PROVIDERS.find((provider) => provider.name === name)?.title;
    expect(() => dialect(name).create({ prompt, options: { [option]: 1 } })).toThrow(
      new RegExp(`^"${option}" (?:cannot be set )?at ${title}`),
    );
  });

  test.each(["openai", "perplexity", "exa", "gemini", "tavily"])(
    "%s refuses structured output without a schema",
    (name) => {
      expect(() => dialect(name).create({ prompt, structured_output: true })).toThrow(
        expect.objectContaining({
          message: expect.stringContaining("without a schema"),
          hint: "Pass a schema with --schema.",
        }),
      );
    },
  );

  test.each([
    [{ type: "array", items: {} }, "type"],
    [{ ...schema, additionalProperties: true }, "additionalProperties"],
    [{ ...schema, required: [] }, 'required": it must name each property, but lacks "answer'],
    [{ ...schema, required: "answer" }, "required"],
    [{ ...schema, properties: { answer: { type: "string", default: "x" } } }, "default"],
    [{ ...schema, properties: { answer: { anyOf: [{ oneOf: [] }] } } }, "oneOf"],
    [{ ...schema, properties: { answer: { properties: { a: {} } } } }, "additionalProperties"],
    [
      { ...schema, properties: { answer: { type: "array", items: { type: "object", properties: {} } } } },
      "additionalProperties",
    ],
    [{ ...schema, $defs: { a: { allOf: [] } } }, "allOf"],
    [{ ...schema, definitions: { a: { oneOf: [] } } }, "oneOf"],
  ])("OpenAI refuses the schema %j by its keyword %s", (wrong, keyword) => {
    expect(() => dialect("openai").create({ prompt, output_schema: wrong })).toThrow(
      `OpenAI does not take this schema: "${keyword}"`,
    );
  });

  test("OpenAI takes a keyword that another one is a part of", () => {
    const output_schema = { ...schema, "x-not": 1, notes: 1 };
    expect(dialect("openai").create({ prompt, output_schema }).body).toContain('"notes":1');
  });

  const property = { type: "string", description: "d" };
  const tavily = (properties: object) => ({ properties, required: ["a"] });
  test.each([
    [{ type: "array", items: {} }, "properties"],
    [{ properties: { a: property } }, "required"],
    [{ properties: { a: property }, required: [] }, "required"],
    [tavily({ a: { type: "string" } }), "description"],
    [tavily({ a: { description: "d" } }), "type"],
    [tavily({ a: { type: "boolean", description: "d" } }), "type"],
    [tavily({ a: { type: ["string", "null"], description: "d" } }), "type"],
    [tavily({ a: { ...property, type: "array", items: { type: "boolean" } } }), "type"],
    [tavily({ a: { ...property, type: "object", properties: { b: { type: "string" } } } }), "description"],
  ])("Tavily refuses the schema %j by its keyword %s", (wrong, keyword) => {
    expect(() => dialect("tavily").create({ prompt, output_schema: wrong })).toThrow(
      `Tavily does not take this schema: "${keyword}"`,
    );
  });

  test("Tavily takes objects and lists in a schema, and no follow-up", () => {
    const list = { type: "array", description: "d", items: { type: "object", properties: { b: property } } };
    expect(() => dialect("tavily").create({ prompt, output_schema: tavily({ a: list }) })).not.toThrow();
    expect(() => dialect("tavily").create({ prompt, after: "x" })).toThrow("does not support follow-ups");
  });

  const searching = (filters: object) => ({ tools: [{ type: "web_search", filters }] });
  test.each<[string, string[], string[], object]>([
    ["openai", ["a"], [], searching({ allowed_domains: ["a"] })],
    ["perplexity", ["a"], ["b"], searching({ search_domain_filter: ["a", "-b"] })],
    ["parallel", ["a"], ["b"], { source_policy: { include_domains: ["a"], exclude_domains: ["b"] } }],
    ["tavily", ["a"], [], { include_domains: ["a"] }],
    ["tavily", [], ["b"], { exclude_domains: ["b"] }],
  ])("%s searches %j and not %j", (name, only, not, options) => {
    expect(findProvider(name)?.buildDomainOptions?.(only, not)).toEqual(options);
  });

  test.each([
    ["x", "model_not_found", true],
    ["Invalid preset", "x", true],
    ["The processor pro is no longer supported", "x", true],
    ["Agent deep-4.1 was not found", "x", true],
    ["The model is there. A tool was not found", "x", false],
    ["The models of this schema were not found", "x", false],
    ["x", "unsupported_model", true],
    ["The API deployment for this resource does not exist.", "DeploymentNotFound", true],
    ["The model `x` does not exist or you do not have access to it.", "x", true],
    ["You do not have access to the model gpt-x.", "x", true],
    ["No such model: x", "x", true],
    ["Unknown preset 'x'.", "x", true],
    ["Unsupported processor", "x", true],
    ["'deep' is not a valid preset", "x", true],
    ["Model x is invalid", "x", true],
    ["effort: ultra2 is not supported", "x", true],
    ["The agent deep-research-x has been retired on 2026-11-01", "x", true],
    ["gpt-x is a model that has been shut down", "x", true],
    ["Invalid schema: the property model is invalid, and so is the unknown model in it.", "x", false],
    ["Your input exceeds the context window of this model.", "context_length_exceeded", false],
    ["The model could not answer, since the prompt was flagged.", "invalid_prompt", false],
    ["Invalid value for field input", "x", false],
  ])("refused with %j and the code %s: the model has ended: %j", (message, code, gone) => {
    expect(isModelRefusal({ code, message })).toBe(gone);
  });

  test.each([
    [{ model: "m" }, "model"],
    [{ options: {} }, "options"],
    [{ after: "x" }, "follow-up"],
  ])("the interface itself takes no %j", (extra, word) => {
    expect(() => createInterfaceDialect().create({ prompt, ...extra })).toThrow(`takes no ${word}`);
  });
});

test.each([
  ["openai", "stop", "POST", "/v1/responses/a%3Ab/cancel"],
  ["openai", "status", "GET", "/v1/responses/a%3Ab"],
  ["exa", "stop", "POST", "/agent/runs/a%3Ab/cancel"],
  ["exa", "status", "GET", "/agent/runs/a%3Ab"],
  ["parallel", "status", "GET", "/v1/tasks/runs/a%3Ab"],
  ["parallel", "output", "GET", "/v1/tasks/runs/a%3Ab/result?timeout=1"],
  ["gemini", "status", "GET", "/v1beta/interactions/a%3Ab"],
  ["gemini", "stop", "POST", "/v1beta/interactions/a%3Ab/cancel"],
  ["tavily", "status", "GET", "/research/a%3Ab?include_usage=true"],
] as const)("%s: %s is %s %s", (name, operation, method, path) => {
  expect(dialect(name).request(operation, "a:b")).toMatchObject({ method, path, json: false });
});

test.each(["parallel", "tavily"])("%s has no way to stop", (name) => {
  expect(dialect(name).request("stop", "trun_1")).toBeUndefined();
});

describe("a state", () => {
  // Each provider's own answer is read in "a result".
  test.each([
    ...["queued", "pending"].map((word) => [word, "PENDING"]),
    ...["in_progress", "running", "cancelling"].map((word) => [word, "PROCESSING"]),
    ...["requires_action", "action_required", "requires_continuation"].map((word) => [word, "PROCESSING"]),
    ...["failed", "incomplete", "budget_exceeded"].map((word) => [word, "FAILED"]),
    ["cancelled", "STOPPED"],
    ...["pondering", "constructor"].map((word) => [word, word]),
  ])("%s is %s", (word = "", ours = "") => {
    const expected = { request_id: "r1", status: ours, provider_status: word };
    expect(dialect("gemini").data("status", { id: "r1", status: word })).toMatchObject(expected);
  });

  const ID = { id: "a", run_id: "a", request_id: "a" };
  /** Completed answers of each provider without a result. Parallel's is the one to the question for its result. */
  const EMPTY: [name: string, answer: object][] = [
    ...["openai", "perplexity"].flatMap((name) =>
      [
        [],
        [
          { type: "reasoning", summary: [] },
          { type: "web_search_call", status: "completed" },
        ],
        [{ type: "search_results", results: [{ url: "https://a.example", title: "t" }] }],
        [{ type: "message", content: [] }],
        [{ type: "message", content: [{ type: "output_text", text: " \n\t" }] }],
        [{ type: "message", content: [{ type: "output_text", text: null }] }],
      ].map((output): [string, object] => [name, { output }]),
    ),
    ["openai", { output: [], text: { format: { type: "json_schema" } } }],
    ...[
      {},
      { output: null },
      { output: {} },
      { output: { text: null, structured: null } },
      { output: { text: " " } },
    ].map((answer): [string, object] => ["exa", answer]),
    ["exa", { output: { text: "words", structured: null }, request: { outputSchema: {} } }],
    ...[
      {},
      { steps: [] },
      { steps: [{ type: "thought" }] },
      { steps: [{ type: "model_output", content: [{ type: "text", text: "" }] }] },
    ].map((answer): [string, object] => ["gemini", answer]),
    ...[{}, { content: "" }, { content: null }, { content: " " }].map((answer): [string, object] => [
      "tavily",
      answer,
    ]),
    ...[
      {},
      { output: null },
      { output: { type: "text" } },
      { output: { content: "" } },
      { output: { content: null } },
    ].map((answer): [string, object] => ["parallel", { ...answer, run: { ...ID, status: "completed" } }]),
  ];

  test.each(EMPTY)("%s: completed without a result is FAILED, and its word stays: %j", (name, answer) => {
    const exact = parseExact(JSON.stringify({ ...ID, status: "completed", ...answer }));
    for (const operation of name === "parallel"
      ? (["output"] as const)
      : (["status", "stop", "create"] as const)) {
      const data = dialect(name).data(operation, exact) as Data;
      const expected = { status: "FAILED", provider_status: "completed", stop_reason: "no_text" };
      expect(data).toMatchObject(expected);
      expect(JSON.parse(stringifyExact(data))).toMatchObject(expected);
      expect(data).not.toHaveProperty("output");
      expect([isResultCutShort(data), hasNoResult(data)]).toEqual([true, true]);
    }
  });

  test("Parallel's state does not say whether there is a result", () => {
    const state = { ...ID, status: "completed" };
    expect(dialect("parallel").data("status", state)).toMatchObject({ status: "COMPLETED" });
  });

  test.each<[string, object]>([
    ["a value of no members", { output: { structured: {} } }],
    ["a value that is false", { output: { structured: false } }],
    ["a value without evidence", { output: { structured: { a: null }, text: null } }],
  ])("%s is a result", (_, answer) => {
    expect(dialect("exa").data("status", { ...ID, status: "completed", ...answer })).toMatchObject({
      status: "COMPLETED",
    });
  });

  test.each(["openai", "perplexity"])(
    "%s: a refusal alone is no result, and its sentence is the message",
    (name) => {
      const part = (refusal: string) => ({
        type: "message",
        content: [
          { type: "refusal", refusal },
          { type: "output_text", text: "" },
        ],
      });
      const answer = { ...ID, status: "completed", output: [part("I cannot help."), part("Sorry.")] };
      expect(dialect(name).data("status", answer)).toMatchObject({
        ...{ status: "FAILED", provider_status: "completed", stop_reason: "refusal" },
        message: "I cannot help.\n\nSorry.",
      });
    },
  );

  test("cut short and waiting are told by the provider's word", () => {
    for (const word of ["incomplete", "budget_exceeded"])
      expect(isResultCutShort({ status: "FAILED", provider_status: word })).toBe(true);
    expect(isResultCutShort({ status: "FAILED", provider_status: "failed" })).toBe(false);
    for (const word of ["requires_action", "action_required", "requires_continuation"])
      expect(isWaitingForPerson({ provider_status: word })).toBe(true);
    expect(isWaitingForPerson({ provider_status: "running" })).toBe(false);
  });

  test.each(NAMES)("%s: an answer without a state or an id is none", (name) => {
    for (const value of [null, [], "x", {}, { status: 7 }, { error: {} }]) {
      for (const operation of ["status", "stop", "create"] as const)
        expect(dialect(name).data(operation, value)).toEqual(expect.any(String));
    }
    const created = { id: "a", run_id: "a", request_id: "a" };
    expect(dialect(name).data("create", created)).toMatchObject({ request_id: "a" });
    expect(dialect("openai").data("create", { id: "msg_1", status: "queued" })).toBe("the answer has no id");
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
    expect(dialect(name).data("status", answer)).toMatchObject({ request_id: id, provider_status: word });
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
    ["exa", { query: "w", outputSchema: schema }],
    ["tavily", { input: "w", output_schema: schema }],
  ])("%s: structured", async (name, asked) => {
    expect(await of(name, asked, "completed")).toMatchObject({ output: { answer: "w" } });
  });

  test("perplexity: structured is a text: its answer does not say what was asked for", async () => {
    const asked = { input: "w", response_format: { type: "json_schema", json_schema: { schema } } };
    expect(await of("perplexity", asked, "completed")).toMatchObject({ output: '{"answer":"w"}' });
  });

  test("an answer of Parallel to the result that has no run is none", () => {
    for (const answer of [{}, { run: null }, { run: { run_id: "trun_1" }, output: { content: "x" } }])
      expect(dialect("parallel").data("output", parseExact(JSON.stringify(answer)))).toBe(
        "the answer has no run",
      );
  });

  test("Gemini: a redirecting address goes with the host's name", async () => {
    expect(await of("gemini", { input: "w" }, "completed")).toMatchObject({
      sources: expect.arrayContaining([
        { url: expect.stringMatching(/^https:\/\/vertexaisearch/), title: "c.example" },
      ]),
    });
  });

  test("Gemini: citations are counted in UTF-16 units, and those outside of the text are left out", () => {
    const url = "https://a.example/";
    const cited = (text: string, spans: [number, number][]) => ({
      ...{ type: "text", text },
      annotations: spans.map(([start_index, end_index]) => ({
        ...{ type: "url_citation", url, start_index, end_index },
      })),
    });
    const data = dialect("gemini").data("status", {
      ...{ id: "v1_1", status: "completed" },
      steps: [
        { type: "model_output", content: [cited("a draft", [[0, 3]])] },
        {
          type: "model_output",
          content: [
            // "ü" has two bytes, "😀" has four and is two units.
            cited("Grün 😀 ja", [
              [0, 5],
              [6, 10],
              [2, 4],
              [2, 3],
              [0, 14],
              [7, 9],
              [5, 5],
              [-1, 2],
            ]),
            cited(" Ende", [[1, 5]]),
          ],
        },
      ],
    });
    expect(data).toMatchObject({ output: "Grün 😀 ja Ende" });
    expect(Object(data).citations).toEqual([
      { start: 0, end: 4, url },
      { start: 5, end: 7, url },
      { start: 2, end: 3, url },
      { start: 11, end: 15, url },
    ]);
  });

  test("Gemini: the text is that of the last output, whatever else stands beside it", () => {
    const answer = {
      ...{ id: "v1_1", status: "completed", agent: "the-agent", model: "the-model" },
      steps: [
        { type: "model_output", content: [{ type: "text", text: "a draft" }] },
        {
          type: "model_output",
          content: [{ type: "image", text: "no" }, { type: "text" }, { type: "text", text: "an answer" }],
        },
        { type: "thought", content: [{ type: "text", text: "a thought" }] },
      ],
    };
    const data = dialect("gemini").data("status", answer);
    expect(data).toMatchObject({ output: "an answer", model: "the-agent" });
    for (const name of ["citations", "sources", "progress", "error"]) expect(data).not.toHaveProperty(name);
    const [error, model] = [{ code: "c", message: "It broke." }, "m"];
    const failed = { id: "v1_1", status: "failed", model, errors: [error] };
    for (const failure of [failed, { ...failed, errors: [], error }])
      expect(dialect("gemini").data("status", failure)).toMatchObject({ model, error });
    expect(dialect("gemini").data("create", { models: [] })).toBe("the answer has no id");
  });

  test.each<[ProviderName, object[], object | undefined]>([
    ["gemini", [], undefined],
    ["gemini", [{ type: "google_search_call" }, { type: "google_search_call" }], { step: "search", done: 2 }],
    [
      "gemini",
      [{ type: "google_search_call" }, { type: "url_context_call", arguments: { urls: ["a", "b"] } }],
      { step: "read", done: 2 },
    ],
    ["gemini", [{ type: "code_call", arguments: { urls: ["a"] } }], undefined],
    ["perplexity", [{ type: "search_results" }, { type: "sandbox" }], { step: "search", done: 1 }],
    [
      "perplexity",
      [{ type: "fetch_url_results", contents: [1, 2, 3] }, { type: "search_results" }],
      { step: "search", done: 1 },
    ],
  ])("%s: %j is the progress %j", (name, steps, progress) => {
    const field = name === "gemini" ? "steps" : "output";
    const of = (status: string) => Object(dialect(name).data("status", { id: "a", status, [field]: steps }));
    expect(of("in_progress").progress).toEqual(progress);
    for (const status of ["completed", "failed", "cancelled"])
      expect(of(status)).not.toHaveProperty("progress");
  });

  test("Tavily: all sources keep their places, as the text has their numbers", () => {
    const [one, two] = ["https://a.example/", "https://b.example/"];
    const sources = [one, two, one].map((url) => ({ url, title: "t", favicon: "f" }));
    const answer = { request_id: "x", status: "completed", content: "c [3]", sources };
    const data = dialect("tavily").data("status", answer);
    expect(Object(data).sources.map(({ url }: { url: string }) => url)).toEqual([one, two, one]);
    expect(dialect("tavily").data("status", { ...answer, content: null })).not.toHaveProperty("output");
  });

  const A = "https://a.example/one";
  const B = "https://b.example/two";
  const note = (url: string, start_index: number, end_index: number) => ({
    ...{ type: "url_citation", url, start_index, end_index },
  });
  test("openai: each part's offsets are turned into those of the whole text, and one outside of it is dropped", () => {
    const part = (text: string, ...annotations: object[]) => ({ type: "output_text", text, annotations });
    const message = (...content: object[]) => ({ type: "message", content });
    const output = [
      message(part("One.", note(A, 0, 4)), part(" Two.", note(B, 1, 5), note(A, 2, 99))),
      message({ type: "refusal", refusal: "no" }, part("")),
      message(part("Three.", note(B, 0, 6), note("javascript:'https://c.example'", 0, 6))),
      message(part("", note(A, -1, 0), note(A, 0, 0), note(A, 0.5, 1))),
    ];
    const data = dialect("openai").data("status", { id: "resp_1", status: "completed", output });
    expect(data).toMatchObject({
      output: "One. Two.\n\nThree.",
      citations: [
        { start: 0, end: 4, url: A },
        { start: 5, end: 9, url: B },
        { start: 11, end: 17, url: B },
      ],
      sources: [A, B].map((url) => ({ url, title: null })),
    });
  });

  test("perplexity: the numbers in its text are those of its search results, which the sources keep", () => {
    const search = (...urls: string[]) => ({
      type: "search_results",
      results: urls.map((url) => ({ url, title: "t" })),
    });
    const text = "One [2]. Two [web:3]. Three [9]. [1](a) [0001]";
    const other = { type: "file_search_call", results: [{ url: B }] };
    const output = [
      other,
      search(A, B),
      search(A),
      { type: "message", content: [{ type: "output_text", text }] },
    ];
    expect(dialect("perplexity").data("status", { id: "resp_1", status: "completed", output })).toMatchObject(
      {
        citations: [
          { start: 4, end: 7, url: B },
          { start: 13, end: 20, url: A },
        ],
        sources: [A, B, A].map((url) => ({ url, title: "t" })),
      },
    );
  });

  test.each<[ProviderName, object]>([
    [
      "exa",
      { id: "agent_run_1", status: "completed", output: { structured: { x: { y: 1 } }, grounding: "HERE" } },
    ],
    [
      "parallel",
      { run: { run_id: "trun_1", status: "completed" }, output: { content: { x: { y: 1 } }, basis: "HERE" } },
    ],
  ])("%s: each field with what it cites", (name, answer) => {
    const cited = [{ field: "x.y", citations: [{ url: A }, { url: "no" }, { url: B }] }, { field: 1 }];
    const whole = JSON.parse(JSON.stringify(answer).replace('"HERE"', JSON.stringify(cited)));
    expect(dialect(name).data("output", whole)).toMatchObject({
      output: { x: { y: 1 } },
      citations: [A, B].map((url) => ({ field: "x.y", url })),
      [name === "parallel" ? "basis" : "grounding"]: cited,
    });
  });

  test("the citations of a text's fields, and the ranges of a structured result, lead nowhere and are left out", () => {
    const basis = [{ field: "output", citations: [{ url: A }] }];
    const parallel = { run: { run_id: "trun_1", status: "completed" }, output: { content: "One.", basis } };
    const part = { type: "output_text", text: '{"a":1}', annotations: [note(A, 0, 4)] };
    const openai = {
      ...{ id: "resp_1", status: "completed", text: { format: { type: "json_schema" } } },
      output: [{ type: "message", content: [part] }],
    };
    for (const data of [
      dialect("parallel").data("output", parallel),
      dialect("openai").data("status", openai),
    ]) {
      expect(data).toMatchObject({ sources: [{ url: A, title: null }] });
      expect(Object(data).citations).toBeUndefined();
    }
  });

  test("cost, where it is given in dollars", async () => {
    expect(await of("perplexity", { input: "w" }, "completed")).toMatchObject({ cost_dollars: 0.42 });
    expect(await of("exa", { query: "w" }, "running")).toMatchObject({ cost_dollars: 0.42 });
    expect(await of("openai", { input: "w" }, "completed")).not.toHaveProperty("cost_dollars");
    const costs = [{ total_cost: 1, currency: "EUR" }, { total_cost: "1" }, { total_cost: 1 }];
    const dollars = costs.map((cost) => {
      const data = dialect("perplexity").data("status", { id: "a", status: "completed", usage: { cost } });
      return Object(data).cost_dollars;
    });
    expect(dollars).toEqual([undefined, undefined, 1]);
  });

  test.each(NAMES)("%s: what an answer lacks is left out", (name) => {
    const id = { id: "a", run_id: "a", request_id: "a" };
    const times = { created: 1e20, created_at: 1e20, createdAt: 1e20 };
    const data = dialect(name).data("status", {
      ...id,
      ...times,
      status: "running",
      sources: [],
      output: [],
    });
    for (const word of [
      "created_at",
      "sources",
      "citations",
      "cost_dollars",
      "progress",
      "stop_reason",
      "error",
    ])
      expect(data).not.toHaveProperty(word);
  });

  test("what was cut short has its text and the reason", async () => {
    expect(await of("openai", { input: "w" }, "incomplete")).toMatchObject({
      status: "FAILED",
      output: "An answer to: w",
      stop_reason: "max_output_tokens",
    });
    const cut = { id: "a", status: "completed", stopReason: "budget_reached", output: { text: "x" } };
    const expected = { status: "COMPLETED", output: "x", stop_reason: "budget_reached" };
    expect(dialect("exa").data("status", cut)).toMatchObject(expected);
  });

  test("exact digits are passed on", () => {
    const answer = parseExact(
      '{"id":"a","status":"completed","n":1.0,"output":{"structured":{"big":12345678901234567890.10}}}',
    );
    expect(stringifyExact(dialect("exa").data("status", answer))).toBe(
      '{"request_id":"a","status":"COMPLETED","provider_status":"completed","output":{"big":12345678901234567890.10},"id":"a","n":1.0}',
    );
  });
});

describe("an error", () => {
  const openai = (code: string | null, type = "invalid_request_error", message = "no") => ({
    error: { message, type, code, param: null },
  });
  const exa = (tag: string, error: unknown = "no") => ({ requestId: "r", error, tag });
  const gemini = (code: number | string, message: string, reason?: string) => ({
    error: {
      ...{ code, message },
      ...(typeof code === "number" && { status: "INVALID_ARGUMENT", details: reason ? [{ reason }] : [] }),
    },
  });
  const tavily = (error: string) => ({ detail: { error } });
  const parallel = (message: string) => ({ type: "error", error: { ref_id: "r", message, detail: null } });
  test.each<[ProviderName, `${Operation} ${number}`, unknown, string | undefined, string | undefined]>([
    ["openai", "create 401", openai("invalid_api_key"), undefined, "invalid_api_key"],
    ["openai", "create 404", openai("model_not_found"), "invalid-input", "model_not_found"],
    ["openai", "status 404", openai(null), undefined, "invalid_request_error"],
    ["openai", "status 404", openai(" "), undefined, "invalid_request_error"],
    ["openai", "create 400", openai("invalid_json_schema"), "invalid-input", "invalid_json_schema"],
    [
      "openai",
      "create 429",
      openai("credit_balance_exhausted", "insufficient_quota"),
      "no-credit",
      "insufficient_quota",
    ],
    [
      "openai",
      "create 429",
      openai("project_spend_limit_exceeded", "x"),
      "no-credit",
      "project_spend_limit_exceeded",
    ],
    [
      "openai",
      "create 429",
      openai("rate_limit_exceeded", "requests", "add a payment method to your balance"),
      undefined,
      "rate_limit_exceeded",
    ],
    ["openai", "create 429", openai("slow_down", "x"), undefined, "slow_down"],
    [
      "perplexity",
      "create 401",
      openai("unauthorized", "x", "You have insufficient credits"),
      "no-credit",
      "unauthorized",
    ],
    ["perplexity", "status 402", openai(null, "x"), "no-credit", "x"],
    ["exa", "create 402", exa("NO_MORE_CREDITS"), "no-credit", "NO_MORE_CREDITS"],
    ["exa", "create 403", exa("API_KEY_BUDGET_EXCEEDED"), "no-credit", "API_KEY_BUDGET_EXCEEDED"],
    [
      "exa",
      "create 400",
      exa("", { type: "t", code: "INVALID", message: "bad" }),
      "invalid-input",
      "INVALID",
    ],
    ["exa", "create 429", exa("RATE_LIMIT"), undefined, "RATE_LIMIT"],
    ["parallel", "create 402", parallel("no funds"), "no-credit", undefined],
    ["parallel", "create 422", parallel("bad schema"), "invalid-input", undefined],
    ["parallel", "create 403", parallel("not entitled"), undefined, undefined],
    ["parallel", "output 408", parallel("still active"), "refused", undefined],
    ["parallel", "status 408", parallel("slow"), undefined, undefined],
    [
      "gemini",
      "create 400",
      gemini(400, "API key not valid.", "API_KEY_INVALID"),
      "unauthenticated",
      "API_KEY_INVALID",
    ],
    [
      "gemini",
      "status 400",
      gemini(400, "API key expired. Renew one."),
      "unauthenticated",
      "INVALID_ARGUMENT",
    ],
    ["gemini", "create 400", gemini("invalid_request", "bad"), "invalid-input", "invalid_request"],
    ["gemini", "create 404", gemini("not_found", "no such agent"), "invalid-input", "not_found"],
    ["gemini", "create 403", gemini("permission_denied", "no"), undefined, "permission_denied"],
    ["gemini", "status 403", gemini("permission_denied", "no"), "withheld", "permission_denied"],
    [
      "gemini",
      "create 429",
      gemini("too_many_requests", "You do not have enough quota to make this request"),
      "no-credit",
      "too_many_requests",
    ],
    ["gemini", "create 429", gemini("too_many_requests", "Slow down"), undefined, "too_many_requests"],
    ["tavily", "create 432", tavily("over the plan"), "no-credit", undefined],
    ["tavily", "create 433", tavily("over the limit of the key"), "no-credit", undefined],
    ["tavily", "create 429", tavily("excessive requests"), undefined, undefined],
    ["tavily", "create 400", tavily("bad schema"), "invalid-input", undefined],
    ["tavily", "create 422", { detail: [{ msg: "Field required" }] }, "invalid-input", undefined],
  ])("%s, %s %j: %s", (name, at, value, kind, code) => {
    const [operation, status] = at.split(" ") as [Operation, string];
    const expected = { kind, code, message: expect.any(String) };
    expect(dialect(name).fault(operation, Number(status), value)).toMatchObject(expected);
  });

  const TOO_LARGE =
    "Request too large for gpt-x on tokens per min (TPM): Limit 30000, Requested 45000. The input must be reduced.";

  // Contract §9: a time to wait comes before words for money, and after a code for it.
  test.each<[string, string | null, string, number | undefined, string | undefined]>([
    ["with a time, whatever its words", null, "You exceeded your current quota", 3, undefined],
    ["for a span of time", null, "You exceeded your request quota of 10 per second", undefined, undefined],
    ["with a time, and a way to pay", null, "Add credits to raise the limit", 3, undefined],
    ["for a day", null, "Your quota of 500 requests per day is exhausted", undefined, undefined],
    ["with a code for money and a time", "insufficient_quota", "Wait.", 3, "no-credit"],
    ["with a code for billing and a time", "billing_hard_limit_reached", "Wait.", 3, "no-credit"],
    ["with a code for a rate", "rate_limit_exceeded", "Add credits to raise the limit", undefined, undefined],
    ["with words for money alone", null, "You exceeded your current quota", undefined, "no-credit"],
    ["with a time in words", null, "Quota exceeded. Please try again in 6m0s.", undefined, undefined],
    ["with a time to wait", null, "Out of credits, retry after 30 seconds", undefined, undefined],
    ...[
      "Your credit balance is too low to access the API.",
      "Not enough credits",
      "You do not have enough credit",
      "Insufficient funds on this account",
      "Quota exceeded.",
      "Your credits have been exhausted",
      "Billing hard limit has been reached",
      "Please top up your account",
      "You have run out of credits",
    ].map((it): [string, null, string, undefined, string] => [
      `with ${it}`,
      null,
      it,
      undefined,
      "no-credit",
    ]),
    ["that no wait ends", "rate_limit_exceeded", `${TOO_LARGE} Please try again in 3s.`, 3, "invalid-input"],
    ["that asks for more than there is", null, "TPM: Limit 30,000, Requested 45,000.", 3, "invalid-input"],
    ["for a prompt that is too long", null, "The prompt is too long.", 3, "invalid-input"],
    ["that has room later", null, "TPM: Limit 30,000, Requested 4,500.", 3, undefined],
    [
      "of a tier without quota",
      "rate_limit_exceeded",
      "Quota exceeded for metric: x, limit: 0, model: y",
      3,
      "no-credit",
    ],
    [
      "of a limit that is nothing",
      null,
      "Rate limit reached on requests: Limit 0, Used 0, Requested 1.",
      3,
      "no-credit",
    ],
    ["of nothing, asked for too much", null, "TPM: Limit 0, Requested 45000.", 3, "no-credit"],
    ["of a fraction", null, "You are over the limit: 0.5 requests a second", 3, undefined],
    ["with nothing left", null, "You hit the limit: 0 requests remaining", 3, undefined],
    [
      "in Google's word",
      "RESOURCE_EXHAUSTED",
      "Resource has been exhausted (e.g. check quota).",
      undefined,
      undefined,
    ],
    ["without any of these", null, "Too busy", undefined, undefined],
    ["that names no money", null, "Too many requests, wait a moment. Limit 3, used 3.", undefined, undefined],
  ])("a 429 %s", (_name, code, message, retryAfter, kind) => {
    for (const name of ["openai", "perplexity", "exa", "parallel"]) {
      const body = name === "exa" ? exa(code ?? "", message) : openai(code, "x", message);
      if (name === "parallel" && code !== null) continue;
      expect(dialect(name).fault("create", 429, body, retryAfter), name).toMatchObject({ kind });
    }
  });

  test("a code for money says enough without a sentence", () => {
    const body = openai("NO_MORE_CREDITS", "x", "");
    expect(dialect("openai").fault("create", 429, body, 3)).toMatchObject({ kind: "no-credit" });
  });

  test.each([
    ["Rate limit reached. Please try again in 6m0s.", 360],
    ["Limit 3. Please try again in 20.5s. Visit the page.", 21],
    ["retry after 30 seconds", 30],
    ["Wait 1h 30 Minutes", 5400],
    ["Please retry in 250ms", 1],
    ["try again in a moment, in 5 of 6 cases it works", undefined],
  ])("the wait in the words: %s", (message, seconds) => {
    expect(
      dialect("openai").fault("create", 429, openai("rate_limit_exceeded", "x", message))?.retryAfter,
    ).toBe(seconds);
    expect(dialect("openai").fault("create", 400, openai("x", "x", message))?.retryAfter).toBeUndefined();
  });

  test.each([
    [403, "no-credit"],
    [400, "no-credit"],
    [422, "invalid-input"],
  ])("HTTP %i with words for money: %s", (status, kind) => {
    const body = parallel("Your credit balance is too low, by 1 per day.");
    expect(dialect("parallel").fault("create", status, body)).toMatchObject({ kind });
  });

  test("Gemini: the wait in the body is a rate limit's, whatever the words, and rounded up", () => {
    const body = {
      error: {
        ...{ code: 429, status: "RESOURCE_EXHAUSTED", message: "You do not have enough quota" },
        details: [
          { retryDelay: "7s" },
          { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "34.07s" },
          ...["90s or more", "about 90s", 90].map((retryDelay) => ({ retryDelay })),
        ],
      },
    };
    expect(dialect("gemini").fault("create", 429, body)).toMatchObject({ kind: undefined, retryAfter: 35 });
  });

  test("Gemini: a cancel that it does not know is refused, and says that the research goes on", () => {
    const body = { error: { code: 404, message: "Method not found.", status: "NOT_FOUND" } };
    expect(dialect("gemini").fault("stop", 404, body)).toMatchObject({
      kind: "refused",
      message: expect.stringMatching(/goes on and is paid for/),
    });
    expect(dialect("gemini").fault("status", 404, body)?.kind).toBeUndefined();
  });

  test("Gemini: the reason of an error says more than its words", () => {
    const refusal = gemini(400, "Please pass another one.", "API_KEY_INVALID");
    expect(dialect("gemini").fault("create", 400, refusal)).toMatchObject({ kind: "unauthenticated" });
    expect(dialect("gemini").fault("create", 429, gemini(429, "Wait."))).not.toHaveProperty("retryAfter", 0);
    for (const [operation, status] of [
      ["stop", 400],
      ["output", 404],
    ] as const)
      expect(
        dialect("gemini").fault(operation, status, gemini(status, "Method not found."))?.kind,
      ).toBeUndefined();
    expect(dialect("gemini").fault("status", 200, refusal)).toBeUndefined();
  });

  test("Gemini: the list of models says that a key is valid", () => {
    const { probeId, request, data } = dialect("gemini");
    const models = { method: "GET", path: "/v1beta/models?pageSize=1", json: false };
    expect(request("status", probeId)).toEqual(models);
    expect(request("stop", probeId)).toBeUndefined();
    expect(data("status", { models: [] })).toEqual({ status: "valid" });
  });

  test("a key that is quoted behind asterisks is left out", () => {
    const quoted = openai(
      "invalid_api_key",
      "x",
      "Incorrect API key provided: sk-ab***********wxyz. Get *one*.",
    );
    expect(dialect("openai").fault("status", 401, quoted)?.message).toBe(
      "Incorrect API key provided: [key] Get *one*.",
    );
  });

  test("a 401 of Perplexity names both causes", () => {
    const both = "(the key is invalid, or the account has no credit)";
    const { fault } = dialect("perplexity");
    expect(fault("create", 401, undefined)).toEqual({ message: `HTTP 401 ${both}` });
    const expected = { code: "x", message: `Unauthorized ${both}` };
    expect(fault("create", 401, openai("x", "y", "Unauthorized"))).toEqual(expected);
  });

  test("a limit of Exa's rate is over in three seconds, unless it says more", () => {
    for (const [given, retryAfter] of [
      [undefined, 3],
      [7, 7],
    ])
      expect(dialect("exa").fault("create", 429, exa("RATE_LIMIT"), given)).toMatchObject({ retryAfter });
    expect(dialect("exa").fault("create", 400, exa("X"))?.retryAfter).toBeUndefined();
  });
});

describe("salvage", () => {
  test.each(NAMES)("%s: an answer that is cut at any byte gives its id or none", async (name) => {
    const double = await ProviderDouble.start(name);
    const asked = { input: "why", query: "why", previous_response_id: "resp_before" };
    const id = double.add(asked);
    const whole = JSON.stringify(double.answerAbout(id, "completed"));
    let count = 0;
    for (let end = 0; end <= whole.length; end++) {
      const salvaged = dialect(name).salvage(whole.slice(0, end));
      if (salvaged !== undefined) count++;
      expect([undefined, id]).toContain(salvaged);
    }
    expect(count).toBeGreaterThan(0);
  });

  test.each([
    ["openai", '{"previous_response_id":"resp_1"', undefined],
    ["openai", '{"id":"req_1","id":"msg_2"', undefined],
    ["openai", '{"error":{"id":"req_1"},"response":{"id": "resp_9"', "resp_9"],
    ["perplexity", '{"response_id":"resp_7"', "resp_7"],
    ["exa", '{"requestId":"agent_run_1"', undefined],
    ["exa", '{"id":"agent_run_1:2"', "agent_run_1:2"],
    ["exa", '{"id":"my_agent_run_1"', undefined],
    ["parallel", '{"interaction_id":"trun_1"', undefined],
    ["parallel", '{"run_id":"trun_../x"', undefined],
    ["parallel", '{"run_id":"my_trun_1"', undefined],
    ["gemini", '{"previous_interaction_id":"v1_1","id":"v1_2","sta', "v1_2"],
    ["gemini", '{"id":"req_1","error":{"id":"msg_2"', undefined],
    ["gemini", '{"steps":[{"type":"google_search_call","id":"call_1"', undefined],
    [
      "tavily",
      '{"request_id":"5f0a3c1e-0001-4abc-8def-0123456789ab"',
      "5f0a3c1e-0001-4abc-8def-0123456789ab",
    ],
    ["tavily", '{"request_id":"r"', undefined],
    ["tavily", '{"request_id":"x5f0a3c1e-0001-"', undefined],
    ["research", '{"request_id" \n:\t "a b", "request_id":"../x"', undefined],
    ["research", '{"data": {"request_id"  :  "a-1"', "a-1"],
    ["research", '{"data": {"request_id":"a-1"', "a-1"],
  ])("%s: %s gives %j", (name, torn, id) => {
    expect(dialect(name).salvage(torn)).toBe(id);
  });
});

test("whatever JSON an answer is, reading it never throws, and an id in it stood there", () => {
  const words =
    "id run_id response_id status output content usage error message code createdAt created_at grounding citations " +
    "annotations run structured type costDollars text basis steps url start_index end_index detail details models sources";
  const word = fc.constantFrom(...words.split(" "));
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
        JSON.parse(stringifyExact(data));
        if (data.request_id !== undefined && typeof data.request_id === "string")
          expect(text).toContain(JSON.stringify(data.request_id));
      },
    ),
    { numRuns: 3_000, seed: 20 },
  );
});

const BEARER = ["authorization", "Bearer "];
const PROVIDER = { statusIsResult: true, mayLag: true, betweenPollsMs: 100 };
test.each<[string, object]>([
  ["research", { keyHeader: BEARER, statusIsResult: false, mayLag: false, betweenPollsMs: 20 }],
  ["openai", { ...PROVIDER, keyHeader: BEARER }],
  ["perplexity", { ...PROVIDER, keyHeader: BEARER }],
  ["exa", { ...PROVIDER, keyHeader: ["x-api-key", ""], betweenPollsMs: 250, pacesAll: true }],
  ["parallel", { ...PROVIDER, keyHeader: ["x-api-key", ""], statusIsResult: false }],
  ["gemini", { ...PROVIDER, keyHeader: ["x-goog-api-key", ""] }],
  ["tavily", { ...PROVIDER, keyHeader: BEARER }],
])("%s: the header of the key, the pace, and a path that is the service's own", (name, expected) => {
  const { request, probeId, ...more } = dialect(name);
  expect(more).toMatchObject({ name, ...expected });
  expect(more.pacesAll ?? false).toBe(name === "exa");
  expect(request("status", probeId)?.path).toMatch(/^\/(?:(?:api\/)?(?:v1|agent)|v1beta|research)\//);
});
