import { getHeader, type HttpAnswer } from "../../core/http/send-request.js";
import { measureJsonNesting, parseExact } from "../../core/json/exact-json.js";
import type { Operation } from "../../core/protocol/conversation.js";
import type { Dialect } from "../dialects/dialect.js";

/** Maximum size of an answer to a create, stop or status call, in bytes. Such an answer has a few hundred bytes. */
const CONTROL_BYTES = 1 << 20;
/** Maximum size of an output, in bytes. */
const OUTPUT_BYTES = 64 << 20;

/** Returns the maximum size of an answer to an operation, in bytes. */
export function getMaxResponseBytes(operation: Operation, dialect: Pick<Dialect, "statusIsResult">): number {
  return operation === "output" || dialect.statusIsResult ? OUTPUT_BYTES : CONTROL_BYTES;
}

/** Maximum nesting to parse. No real result is deeper, and V8's JSON functions overflow the stack at several thousand levels. */
const MAX_DEPTH = 1_000;

type Bytes = Pick<HttpAnswer, "headers" | "body">;

/** The outcome of parsing a body; `none` if it is not JSON. `stringifyExact` returns the original text of `value`. */
export type ParsedBody = { kind: "json"; value: unknown } | { kind: "none" } | { kind: "oversized" };

/** Decodes and parses a body. Oversized: more than `maxBytes` after decompression, or nested deeper than `MAX_DEPTH`. */
export function parseResponseBody(answer: Bytes, maxBytes: number): ParsedBody {
  try {
    const text = decodeBody(answer, maxBytes)
      .toString("utf8")
      .replace(/^\uFEFF/, "");
    if (text.length > MAX_DEPTH && measureJsonNesting(text) > MAX_DEPTH) return { kind: "oversized" };
    return { kind: "json", value: parseExact(text) };
  } catch (error) {
    return error instanceof RangeError ? { kind: "oversized" } : { kind: "none" };
  }
}

/** Finds the request id even in an answer that is cut off, not JSON, or an error, because the id may be the only trace of a paid request. */
export function salvageRequestId(answer: Bytes, dialect: Pick<Dialect, "salvage">): string | undefined {
  let text: string;
  try {
    text = decodeBody(answer, CONTROL_BYTES).toString("utf8");
  } catch {
    return undefined;
  }
  return dialect.salvage(text);
}

/** Decompresses a body. Requests ask for no encoding, so zlib is loaded only if an intermediary has used one. */
function decodeBody({ headers, body }: Bytes, maxOutputLength: number): Buffer {
  const encoding = getHeader(headers, "content-encoding")?.trim().toLowerCase();
  if (!encoding) return body;
  const zlib = process.getBuiltinModule("node:zlib");
  // Z_SYNC_FLUSH decodes a truncated stream as far as possible.
  const limit = { maxOutputLength, finishFlush: zlib.constants.Z_SYNC_FLUSH };
  switch (encoding) {
    case "gzip":
    case "x-gzip":
    case "deflate":
      return zlib.unzipSync(body, limit);
    case "br":
      return zlib.brotliDecompressSync(body, { maxOutputLength });
    default:
      return body;
  }
}
