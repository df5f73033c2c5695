import type { Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import type { SeenRequest } from "./request-reader.js";

/** What a fault server does with one request. */
export interface Behaviour {
  /** Acts as soon as the headers of the request are there, or (the default) once its body is too. */
  on?: "head" | "body";
  act(socket: Socket, request: SeenRequest): void | Promise<void>;
}

export type HeaderList = Readonly<Record<string, string | number>>;

/** An answer in parts. `length`: what Content-Length says; default the truth, `none` leaves it out and closes. */
export interface AnswerParts {
  status?: number;
  headers?: HeaderList;
  body?: string | Buffer;
  length?: number | "none";
}

/** The bytes of an answer. */
export function answerBytes({ status = 200, headers = {}, body = "", length }: AnswerParts): Buffer {
  const bytes = Buffer.from(body);
  const all: Record<string, string | number> = { "content-type": "application/json", ...headers };
  if (length === "none") all.connection = "close";
  else all["content-length"] = length ?? bytes.length;
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([Buffer.from(`HTTP/1.1 ${status} Status\r\n${lines.join("")}\r\n`, "latin1"), bytes]);
}

/** A whole answer. */
export function answer(parts: AnswerParts): Behaviour {
  return {
    act(socket) {
      socket.write(answerBytes(parts));
      if (parts.length === "none") socket.end();
    },
  };
}

/** Exactly these bytes, and then the end of the connection. */
export function raw(bytes: string | Buffer): Behaviour {
  return { act: (socket) => void socket.end(bytes) };
}

/** The connection is reset once the headers have come, or the whole body. */
export function reset(on: "head" | "body" = "body"): Behaviour {
  return { on, act: (socket) => void socket.resetAndDestroy() };
}

/** The connection is ended in good order, without an answer. */
export function close(): Behaviour {
  return { act: (socket) => void socket.end() };
}

/** Nothing ever comes; the connection stays open. */
export function hang(on: "head" | "body" = "body"): Behaviour {
  return { on, act: () => {} };
}

/**
 * One byte each `everyMs`, or `size` of them, of the whole answer or, with `from: "body"`, of its body only; so the
 * whole takes that many times the number of pieces. Ends early with the connection.
 */
export function drip(
  parts: AnswerParts,
  everyMs: number,
  from: "head" | "body" = "head",
  size = 1,
): Behaviour {
  return {
    async act(socket) {
      const bytes = answerBytes(parts);
      const start = from === "head" ? 0 : bytes.indexOf("\r\n\r\n") + 4;
      socket.write(bytes.subarray(0, start));
      for (let at = start; at < bytes.length && !socket.destroyed; at += size) {
        socket.write(bytes.subarray(at, at + size));
        await delay(everyMs, undefined, { ref: false });
      }
      if (parts.length === "none") socket.end();
    },
  };
}

/** `atBytes` of the body and then the end, or a reset: torn where a length was given, unnoticed where none was. */
export function truncate(parts: AnswerParts, atBytes: number, end: "end" | "reset" = "end"): Behaviour {
  return {
    act(socket) {
      const bytes = answerBytes(parts);
      const cut = bytes.subarray(0, bytes.indexOf("\r\n\r\n") + 4 + atBytes);
      // A reset overtakes what is still to be sent, so it waits until that has left; and a reader that meets both at
      // once is told of an end. One in this process has read when the timer is late and a turn of the loop has passed.
      const finish = () => (end === "reset" ? socket.resetAndDestroy() : socket.end());
      socket.write(cut, () => setTimeout(() => setImmediate(finish), 5));
    },
  };
}

/** Any 3xx. */
export function redirect(status: number, location: string): Behaviour {
  return answer({ status, headers: { location }, body: "" });
}

/** `bytes` blanks, packed into a thousandth of that: a body that passes every check of its length as received. */
export function gzipBomb(bytes = 256 * 1024 * 1024): Behaviour {
  return answer({ headers: { "content-encoding": "gzip" }, body: bomb(bytes) });
}

const bombs = new Map<number, Buffer>();
function bomb(bytes: number): Buffer {
  const bomb = bombs.get(bytes);
  if (bomb) return bomb;
  // gzip members may follow one another, so one small piece repeated stands for the whole.
  const piece = gzipSync(Buffer.alloc(1024 * 1024, " "));
  const whole = Buffer.concat(Array(Math.ceil(bytes / (1024 * 1024))).fill(piece));
  bombs.set(bytes, whole);
  return whole;
}

/** An envelope with `bytes` of filling, written as fast as it is read. */
export function huge(bytes = 256 * 1024 * 1024): Behaviour {
  return {
    async act(socket) {
      const open = '{"status":true,"version":"1.0.0","data":{"status":"COMPLETED","filling":"';
      socket.write(answerBytes({ body: open, length: open.length + bytes + 3 }));
      const piece = Buffer.alloc(64 * 1024, "x");
      for (let left = bytes; left > 0 && !socket.destroyed; left -= piece.length) {
        if (!socket.write(piece.subarray(0, left))) await drained(socket);
      }
      socket.write('"}}');
    },
  };
}

function drained(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      socket.off("drain", done).off("close", done);
      resolve();
    };
    socket.on("drain", done).on("close", done);
  });
}

/** JSON nested `depth` deep: well-formed, within the size that is read, and fatal to a recursive reader. */
export function nested(depth = 50_000): Behaviour {
  const body = `{"status":true,"version":"1.0.0","data":${"[".repeat(depth)}${"]".repeat(depth)}}`;
  return answer({ body });
}

/** The body of a success (§2). */
export function envelope(data: Readonly<Record<string, unknown>>): string {
  return JSON.stringify({ status: true, version: "1.0.0", data });
}

/** The body of a failure (§2); `extra` stands beside `error`. */
export function errorEnvelope(code: string, message = `about ${code}`, extra: object = {}): string {
  return JSON.stringify({ status: false, version: "1.0.0", error: { message, code }, ...extra });
}

/** A success. */
export function ok(data: Readonly<Record<string, unknown>>): Behaviour {
  return answer({ body: envelope(data) });
}

/** A refusal in an envelope. */
export function refuse(status: number, code: string, headers: HeaderList = {}, message?: string): Behaviour {
  return answer({ status, headers, body: errorEnvelope(code, message) });
}

/** A page as something in between would send it. */
export function html(status: number, headers: HeaderList = {}): Behaviour {
  const body = `<!doctype html><title>${status}</title><h1>${status} from the gateway</h1>`;
  return answer({ status, headers: { "content-type": "text/html", ...headers }, body });
}

/** What goes wrong with one operation alone: each time, or the first `times`. */
export function only(operation: string, behaviour: Behaviour | undefined, times = Number.POSITIVE_INFINITY) {
  return (asked: string, nth: number) => (asked === operation && nth <= times ? behaviour : undefined);
}
