import { describe, expect, test } from "vitest";
import { createKeyHider } from "../../../src/core/secrets/hide-key.js";

/** Every kind of character that one of the encodings changes. */
const KEY = "sk-/+1234&x=";
const hide = createKeyHider(KEY);

describe("the key is hidden", () => {
  test.each([
    ["as it is", KEY],
    ["percent-encoded", encodeURIComponent(KEY)],
    ["percent-encoded in lower case", encodeURIComponent(KEY).toLowerCase()],
    ["in base64", Buffer.from(KEY).toString("base64")],
    // "Incorrect API key provided: sk-ab***wxyz", as OpenAI's 401 says it.
    ["with its first and last characters around asterisks", "sk-/+*************x="],
    ["with its first and last characters around dots", "sk...x="],
    ["with all but one character", "sk-/+1…34&x="],
  ])("%s", (_how, text) => {
    const hidden = hide(`before ${text} after ${text}`);
    expect(hidden.match(/\[key\]/g)).toHaveLength(2);
    expect(hidden).not.toContain(text);
  });
});

test("what is not the key is not hidden", () => {
  for (const text of [
    "sk-",
    KEY.slice(1),
    KEY.slice(0, -1),
    "sk-/+1…",
    "…34&x=",
    "sk.x=",
    "…34&x",
    encodeURIComponent("sk-1234"),
  ])
    expect(hide(text)).toBe(text);
});

test("a key of four characters is hidden, a shorter one is not", () => {
  expect(createKeyHider("abcd")("invalid key: abcd")).toBe("invalid key: [key]");
  expect(createKeyHider("abc")("invalid key: abc")).toBe("invalid key: abc");
});
