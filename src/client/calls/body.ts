import { getHeader, type HttpAnswer } from "../../core/http/exchange.js";
import { measureNesting, parseExact } from "../../core/json/exact-json.js";
import type { Operation } from "../../core/protocol/conversation.js";
import type { Dialect } from "../dialects/dialect.js";

/** A control answer (create, stop, status) holds a few hundred bytes; this is room for any envelope. */
const CONTROL_BYTES = 1 << 20;
/** The largest output that is read. */
const OUTPUT_BYTES = 64 << 20;

/** The most that is read of an operation's answer, in bytes. */
export function getMaxBytes(operation: Operation, dialect: Pick<Dialect, "statusIsResult">): number {
  return operation === "output" || dialect.statusIsResult ? OUTPUT_BYTES : CONTROL_BYTES;
}

/** Deeper than any result is; V8's own JSON functions overflow the stack at several thousand. */
const MAX_DEPTH = 1_000;

type Bytes = Pick<HttpAnswer, "headers" | "body">;

/** `value` remembers its text, as `stringifyExact` needs it. */
export type ParsedBody = { kind: "json"; value: unknown } | { kind: "none" } | { kind: "oversized" };

/** Decodes and parses a body, within `getMaxBytes` after decompression and `MAX_DEPTH` of nesting. */
export function parseBody(answer: Bytes, maxBytes: number): ParsedBody {
  try {
    const text = decodeBody(answer, maxBytes)
      .toString("utf8")
      .replace(/^\uFEFF/, "");
    if (text.length > MAX_DEPTH && measureNesting(text) > MAX_DEPTH) return { kind: "oversized" };
    return { kind: "json", value: parseExact(text) };
  } catch (error) {
    return error instanceof RangeError ? { kind: "oversized" } : { kind: "none" };
  }
}

/** The id in an answer that need not be whole, JSON or a success: it may be the only trace of a request. */
export function salvageRequestId(answer: Bytes, dialect: Pick<Dialect, "salvage">): string | undefined {
  let text: string;
  try {
    text = decodeBody(answer, CONTROL_BYTES).toString("utf8");
  } catch {
    return undefined;
  }
  return dialect.salvage(text);
}

/** No encoding is ever asked for, so zlib is loaded only where an intermediary used one all the same. */
function decodeBody({ headers, body }: Bytes, maxOutputLength: number): Buffer {
  const encoding = getHeader(headers, "content-encoding")?.trim().toLowerCase();
  if (!encoding) return body;
  const zlib = process.getBuiltinModule("node:zlib");
  // Z_SYNC_FLUSH reads what there is of a stream that broke off.
  const limit = { maxOutputLength, finishFlush: zlib.constants.Z_SYNC_FLUSH };
  switch (encoding) {
    case "gzip":
    case "x-gzip":
      return zlib.gunzipSync(body, limit);
    case "deflate":
      return zlib.inflateSync(body, limit);
    case "br":
      return zlib.brotliDecompressSync(body, { maxOutputLength });
    default:
      return body;
  }
}
