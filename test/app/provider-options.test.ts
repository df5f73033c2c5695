import { describe, expect, test } from "vitest";
import {
  addProviderOptions,
  buildCheckedBody,
  type ProviderOptionFlags,
  parseSetOptions,
} from "../../src/app/provider-options.js";
import { stringifyExact } from "../../src/core/json/exact-json.js";
import type { CreateBody } from "../../src/core/protocol/conversation.js";

const sourced = (value: string) => ({ value, source: "test" });
const at = (provider: string, model?: string, set?: string) => ({
  settings: {
    provider: sourced(provider),
    model: model === undefined ? undefined : sourced(model),
    set: set === undefined ? undefined : sourced(set),
  },
});
const body = (more: Partial<CreateBody> = {}): CreateBody => ({
  prompt: "q",
  ...more,
});

describe("at a provider", () => {
  test.each<[string, Partial<CreateBody>, ProviderOptionFlags, Partial<CreateBody>]>([
    ["the settings hold where nothing else is given", {}, {}, { model: "m0", options: { a: 1 } }],
    [
      "a flag beats the row, and the row the settings",
      { model: "m1" },
      { model: "m2" },
      { model: "m2", options: { a: 1 } },
    ],
    ["the row beats the settings", { model: "m1" }, {}, { model: "m1", options: { a: 1 } }],
    [
      "a flag's option beats the request's, and that the settings'",
      { options: { a: 0, b: 0 } },
      { set: ["b=2", "c=[1]", "d-1=x=y"] },
      { model: "m0", options: { a: 0, b: 2, c: [1], "d-1": "x=y" } },
    ],
    [
      "a follow-up names what it follows",
      {},
      { after: "id" },
      { model: "m0", options: { a: 1 }, after: "id" },
    ],
  ])("%s", (_, given, options, expected) => {
    expect(addProviderOptions(at("exa", "m0", "a=1"), body(given), options)).toStrictEqual(body(expected));
  });

  test("options of the settings keep their digits", () => {
    const stored = '{"seed":12345678901234567890,"x":[1.0]}';
    const { options } = addProviderOptions(at("exa", "m0", stored), body(), { set: ["y=1.0"] });
    expect(stringifyExact(options)).toBe('{"seed":12345678901234567890,"x":[1.0],"y":1.0}');
  });

  test("what is in no flag, row or setting is not sent", () => {
    expect(addProviderOptions(at("exa"), body(), {})).toStrictEqual(body());
  });

  test.each([
    ["--model", { model: " " }],
    ["--set", { set: ["=1"] }],
    ["--set", { set: ["a b=1"] }],
    ["--set", { set: ["a"] }],
  ])("an unusable %s is refused", (flag, options) => {
    expect(() => addProviderOptions(at("exa"), body(), options)).toThrow(`invalid value for ${flag}: `);
  });

  test("domains become its own options, each once and in order, or are refused", () => {
    const domains = "www.b.example,a.example,b.example";
    const asked = (name: string, set?: string, more: ProviderOptionFlags = { domains }) =>
      addProviderOptions(at(name, undefined, set), body(), more).options;
    expect(asked("tavily", "a=1")).toEqual({ a: 1, include_domains: ["a.example", "b.example"] });
    expect(() => asked("tavily", "include_domains=[]")).toThrow(
      expect.objectContaining({
        message: expect.stringMatching(/^--domains sets "include_domains" at Tavily, and --set/),
        facts: { hint: "Give one of them." },
      }),
    );
    expect(() => asked("gemini", undefined, { notDomains: "a.example" })).toThrow(
      expect.objectContaining({
        message: "Gemini cannot restrict the search to domains",
        facts: { hint: "Leave --not-domains out." },
      }),
    );
  });
});

describe("the interface takes", () => {
  test("a create as it is, whatever the settings hold for a provider", () => {
    expect(addProviderOptions(at("research", "m0", "a=1"), body(), {})).toEqual(body());
  });

  test.each<[string, Partial<CreateBody>, ProviderOptionFlags]>([
    ["model", {}, { model: "m" }],
    ["model", { model: "m" }, {}],
    ["options", {}, { set: ["a=1"] }],
    ["options", { options: {} }, {}],
    ["follow-up", {}, { after: "id" }],
    ["domains", {}, { notDomains: "a.example" }],
  ])("no %s", (name, given, options) => {
    expect(() => addProviderOptions(at("research"), body(given), options)).toThrow(
      expect.objectContaining({
        message: `the service in use has the research interface, which takes no ${name}`,
        facts: { hint: expect.stringContaining("`research login PROVIDER` stores an account") },
      }),
    );
  });
});

test.each([
  [undefined, {}],
  ["a=1", { a: 1 }],
  ["a=text", { a: "text" }],
  [' {"a":1,"b":"x"}', { a: 1, b: "x" }],
])("options in the setting %j", (text, expected) => {
  expect(parseSetOptions(text)).toEqual(expected);
});

test.each(["{", "{}x", "null", "1"])("no options in the setting %j", (text) => {
  expect(() => parseSetOptions(text)).toThrow(
    expect.objectContaining({
      message: `invalid value for --set: ${JSON.stringify(text)}`,
      facts: { hint: expect.stringContaining("NAME=VALUE") },
    }),
  );
});

test("no option is a number that becomes another one", () => {
  const message = "invalid value for --set: 1e999 is larger than any number that a program can hold";
  expect(() => parseSetOptions("a=1e999")).toThrow(message);
});

describe("what another program asks for", () => {
  test("is the create of a prompt, and of a schema if there is one", async () => {
    expect(await buildCheckedBody("q", undefined)).toEqual(body());
    const schema = { type: "object" };
    expect(await buildCheckedBody("q", schema)).toEqual(
      body({ structured_output: true, output_schema: schema }),
    );
  });

  test.each<[string, unknown, object | undefined]>([
    ["the prompt is blank", " \n", undefined],
    ["the prompt is blank", 1, undefined],
    ["the prompt is over 1 MiB", "x".repeat((1 << 20) + 1), undefined],
    ["the schema is an invalid JSON Schema: at /type", "q", { type: 1 }],
    ["the schema is an invalid JSON Schema: it must be a JSON object", "q", []],
  ])("is refused if %s", async (message, prompt, schema) => {
    await expect(buildCheckedBody(prompt as string, schema as never)).rejects.toThrow(message);
  });
});
