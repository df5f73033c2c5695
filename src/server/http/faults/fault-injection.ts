import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { Clock } from "../../../core/clock.js";
import {
  ANSWER_HEADERS,
  buildErrorResponse,
  ERROR_STATUS,
  HttpError,
  type HttpErrorCode,
  toHttpError,
} from "../responses.js";
import type { InjectedFault } from "./fault.js";

type FaultAnswer = () => Promise<Response>;

/** Larger than any client should accept, bytes: our contract reads at most 64 MiB of an output. */
const HUGE_BYTES = 80 * 1_048_576;
const PIECE = Buffer.alloc(65_536, "x");
/** The interval between two bytes, ms. */
const DRIP_MS = 1_000;
/** A name that no resolver may ever resolve (RFC 6761), so that no client reaches a real host. */
const ELSEWHERE = "http://redirect.invalid";

/** Answers as a proxy between client and service would, or damages the answer to a request that was carried out. */
export async function injectFault(
  kind: InjectedFault["kind"],
  { outgoing, incoming }: HttpBindings,
  clock: Clock,
  answer: FaultAnswer,
): Promise<Response> {
  if (typeof kind === "object") return createPlainResponse(kind.status, kind.retryAfter);
  const carryOut = () => answer().catch((error) => buildErrorResponse(toHttpError(error)));
  switch (kind) {
    case "reset":
      outgoing.socket?.resetAndDestroy();
      return RESPONSE_ALREADY_SENT;
    case "html":
      return new Response(PAGE, { headers: { "Content-Type": "text/html; charset=utf-8" } });
    case "redirect":
      return new Response(null, { status: 307, headers: { Location: `${ELSEWHERE}${incoming.url}` } });
    case "reset-after-body":
      await carryOut();
      outgoing.socket?.resetAndDestroy();
      return RESPONSE_ALREADY_SENT;
    case "bad-envelope":
      await carryOut();
      return new Response(JSON.stringify({ ok: true }), { headers: ANSWER_HEADERS });
    case "hang":
      await carryOut();
      await once(outgoing, "close");
      return RESPONSE_ALREADY_SENT;
    case "truncate":
      await truncate(outgoing, await begin(outgoing, await carryOut()));
      return RESPONSE_ALREADY_SENT;
    case "drip":
      await drip(outgoing, await begin(outgoing, await carryOut()), clock);
      return RESPONSE_ALREADY_SENT;
    case "huge":
      await sendHuge(outgoing, await carryOut());
      return RESPONSE_ALREADY_SENT;
  }
}

const PAGE = "<!doctype html>\n<title>Welcome</title>\n<p>Please sign in to use this network.</p>\n";

function createPlainResponse(status: number, retryAfter?: string): Response {
  const headers = retryAfter === undefined ? {} : { "Retry-After": retryAfter };
  const codes = Object.keys(ERROR_STATUS) as HttpErrorCode[];
  const code = status < 500 ? codes.find((name) => ERROR_STATUS[name] === status) : undefined;
  if (code !== undefined) return buildErrorResponse(new HttpError(code, "A fault on demand.", headers));
  const bodiless = status === 204 || status === 205 || status === 304;
  return new Response(bodiless ? null : `${status} by a fault on demand\n`, { status, headers });
}

/** Sends the head of an answer that promises its whole body, and returns that body. */
async function begin(outgoing: ServerResponse, response: Response): Promise<Buffer> {
  const body = Buffer.from(await response.arrayBuffer());
  const headers = { ...Object.fromEntries(response.headers), "content-length": String(body.length) };
  outgoing.writeHead(response.status, headers).flushHeaders();
  return body;
}

async function truncate(outgoing: ServerResponse, body: Buffer): Promise<void> {
  outgoing.write(body.subarray(0, Math.ceil(body.length / 2)), () => outgoing.socket?.destroySoon());
}

async function drip(outgoing: ServerResponse, body: Buffer, clock: Clock): Promise<void> {
  const gone = new AbortController();
  outgoing.once("close", () => gone.abort());
  for (const byte of body) {
    outgoing.write(Buffer.of(byte));
    await clock.sleep(DRIP_MS, gone.signal).catch(() => {});
    if (gone.signal.aborted) return;
  }
  outgoing.end();
}

async function sendHuge(outgoing: ServerResponse, response: Response): Promise<void> {
  const body = await response.text();
  outgoing.writeHead(response.status, ANSWER_HEADERS);
  function* generatePieces() {
    yield '{"padding":"';
    for (let sent = 0; sent < HUGE_BYTES; sent += PIECE.length) yield PIECE;
    yield `",${body.slice(1)}`;
  }
  await pipeline(Readable.from(generatePieces()), outgoing).catch(() => {});
}
