import { describe, expect, test } from "vitest";
import { keyHider } from "../../../src/core/secrets/key.js";

/** Every kind of character that one of the encodings changes. */
const KEY = "sk-/+1234&x=";
const hide = keyHider(KEY);

describe("the key is hidden", () => {
  test.each([
    ["as it is", KEY],
    ["percent-encoded", encodeURIComponent(KEY)],
    ["percent-encoded in lower case", encodeURIComponent(KEY).toLowerCase()],
    ["in base64", Buffer.from(KEY).toString("base64")],
    ["in base64 after one byte", Buffer.from(`x${KEY}`).toString("base64")],
    ["in base64 after two bytes", Buffer.from(`xy${KEY}`).toString("base64")],
    ["in base64 of a header", Buffer.from(`Authorization: Bearer ${KEY}\r\n`).toString("base64")],
    ["in base64url", Buffer.from(`user:${KEY}`).toString("base64url")],
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
    KEY.toUpperCase(),
    encodeURIComponent("sk-1234"),
  ])
    expect(hide(text)).toBe(text);
});

test("a key of four characters is hidden, a shorter one is not", () => {
  expect(keyHider("abcd")("invalid key: abcd")).toBe("invalid key: [key]");
  expect(keyHider("abc")("invalid key: abc")).toBe("invalid key: abc");
});
