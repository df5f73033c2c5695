import { expect, test } from "vitest";
import { ProxyRefusal } from "../../../src/ground/http/address.js";
import { nameOfError } from "../../../src/ground/http/exchange.js";

const error = (code?: string) => Object.assign(new Error("x"), code && { code });
const named = (name: string) => Object.assign(new Error("x"), { name });

test.each([
  [error("ECONNREFUSED"), false, false, "unreachable"],
  [error("EAI_AGAIN"), false, false, "unreachable"],
  [error(), false, false, "unreachable"],
  [error("ENOTFOUND"), false, false, "unconnectable"],
  [error("CERT_HAS_EXPIRED"), false, false, "unconnectable"],
  [error("DEPTH_ZERO_SELF_SIGNED_CERT"), false, false, "unconnectable"],
  [error("ERR_TLS_CERT_ALTNAME_INVALID"), false, false, "unconnectable"],
  [new ProxyRefusal(403), false, false, "unconnectable"],
  [error("ECONNRESET"), true, false, "lost"],
  [error("ENOTFOUND"), true, false, "lost"],
  [error("ECONNRESET"), true, true, "torn"],
  [named("HTTPParserError"), true, false, "torn"],
  [error("UND_ERR_HEADERS_OVERFLOW"), true, false, "oversized"],
] as const)("%#: %s, sent %j, answering %j: %s", (cause, sent, answering, fault) => {
  expect(nameOfError(cause, sent, answering)).toBe(fault);
});
