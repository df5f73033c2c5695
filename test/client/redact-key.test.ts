import { describe, expect, test } from "vitest";
import { UnreachableError } from "../../src/client/errors.js";
import { KeyRedactor } from "../../src/client/session.js";
import { exactJson, parseExact } from "../../src/json/exact-json.js";
import type { Data } from "../../src/protocol/conversation.js";

/** Every kind of character that one of the encodings changes. */
const KEY = "sk-/+1234&x=";
const redactor = new KeyRedactor(KEY);
const shown = (text: string, apiKey = "sk-12345678") => {
  const data = parseExact(text) as Data;
  const result = new KeyRedactor(apiKey).redactClassification({ kind: "data", data, waitMs: 0 });
  return result.kind === "data" ? exactJson(result.data) : "";
};

const hex = (text: string) => Buffer.from(text).toString("hex");
const each = (form: (code: number, char: string) => string) =>
  [...KEY].map((char) => form(char.charCodeAt(0), char)).join("");

describe("the key is found", () => {
  test.each([
    ["as it is", KEY],
    ["percent-encoded", encodeURIComponent(KEY)],
    ["percent-encoded in lower case", encodeURIComponent(KEY).toLowerCase()],
    ["percent-encoded twice", encodeURIComponent(encodeURIComponent(KEY))],
    ["percent-encoded whole", each((code) => `%${code.toString(16)}`)],
    ["with a slash that JSON escaped", KEY.replace("/", "\\/")],
    ["in JSON in JSON", KEY.replace("/", "\\\\\\/")],
    ["in \\u escapes", each((code) => `\\u${code.toString(16).padStart(4, "0")}`)],
    ["in \\x escapes", each((code) => `\\x${code.toString(16).toUpperCase()}`)],
    ["in decimal entities", each((code) => `&#${code};`)],
    ["in hexadecimal entities", each((code) => `&#x${code.toString(16)};`)],
    ["in an HTML page", KEY.replace("&", "&amp;")],
    ["in an HTML page in an HTML page", KEY.replace("&", "&amp;amp;")],
    ["in named entities", KEY.replace("/", "&sol;").replace("+", "&plus;").replace("=", "&equals;")],
    ["in hexadecimal digits", hex(KEY)],
    ["in capital hexadecimal digits", hex(KEY).toUpperCase()],
    ["in base64", Buffer.from(KEY).toString("base64")],
    ["in base64 after one byte", Buffer.from(`x${KEY}`).toString("base64")],
    ["in base64 after two bytes", Buffer.from(`xy${KEY}`).toString("base64")],
    ["in base64 of a header", Buffer.from(`Authorization: Bearer ${KEY}\r\n`).toString("base64")],
    ["in base64url", Buffer.from(`user:${KEY}`).toString("base64url")],
  ])("%s", (_how, text) => {
    expect(redactor.isIn(`before ${text} after`)).toBe(true);
    const redacted = redactor.redact(`before ${text} after`);
    expect(redacted).toContain("[key]");
    expect(redacted).not.toContain(text);
  });

  test.each([128, 4_000])("in linear time among %d characters that could begin it", (count) => {
    for (const char of ["\\", "%25", "&amp;", "&#0"]) {
      expect(redactor.isIn(char.repeat(count * 100))).toBe(false);
    }
  });
});

test("what is not the key is not hidden", () => {
  for (const text of [
    "sk-",
    KEY.slice(1),
    KEY.slice(0, -1),
    KEY.toUpperCase(),
    encodeURIComponent("sk-1234"),
  ])
    expect(redactor.redact(text)).toBe(text);
});

test("a key of fewer than eight characters is too short to hide", () => {
  expect(new KeyRedactor("1234567").redact("1234567")).toBe("1234567");
  expect(new KeyRedactor("12345678").redact("12345678")).toBe("[key]");
});

describe("in an answer the key is hidden in", () => {
  test.each([
    ["a text", '{"output":"Bearer sk-12345678!"}', '{"output":"Bearer [key]!"}'],
    ["the name of a field", '{"sk-12345678":1}', '{"[key]":1}'],
    ["a list deep inside", '{"a":[{"b":["sk-12345678"]},7]}', '{"a":[{"b":["[key]"]},7]}'],
    ["a text with escapes", '{"a":"\\u0073k-12345678\\n"}', '{"a":"[key]\\n"}'],
  ])("%s", (_where, text, hidden) => {
    expect(shown(text)).toBe(hidden);
  });

  test("a number, if the key is of digits", () => {
    expect(shown('{"n":12345678,"m":1234}', "12345678")).toBe('{"n":"[key]","m":1234}');
  });

  test("a text in which it stands with backslashes", () => {
    expect(shown('{"output":"my \\"quoted\\\\key\\" here"}', '"quoted\\key"')).toBe(
      '{"output":"my [key] here"}',
    );
  });
});

test("the rest of such an answer is exact, and the value that is judged is without the key too", () => {
  const text = '{"n":12345678901234567890,"n":1e400,"k":"sk-12345678","z":-0}';
  expect(shown(text)).toBe(text.replace("sk-12345678", "[key]"));
  const data = parseExact(text) as Data;
  const result = new KeyRedactor("sk-12345678").redactClassification({ kind: "data", data, waitMs: 0 });
  expect(result).toMatchObject({ data: { k: "[key]" } });
});

test("an answer without the key is the same one", () => {
  const result = { kind: "data" as const, data: { output: ["nothing", { here: null }] }, waitMs: 0 };
  expect(redactor.redactClassification(result)).toBe(result);
});

test("an error is without the key in its message, its code and its hint", () => {
  const error = new UnreachableError(`A ${KEY}`, `B ${KEY}`, { hint: `C ${KEY}` });
  redactor.redactClassification({ kind: "fault", fault: "lost", sent: true, error });
  expect(error).toMatchObject({ code: "A [key]", message: "B [key]", hint: "C [key]" });
});
