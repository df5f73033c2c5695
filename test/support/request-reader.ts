import type { Socket } from "node:net";

/** The operations of §4, told by the path alone; `other` is everything else. */
export type Operation = "create" | "status" | "stop" | "output" | "other";

/** A request as it came over the wire. */
export interface SeenRequest {
  operation: Operation;
  /** 1 for the first request of this operation. */
  nth: number;
  method: string;
  /** As in the request line, with the query. */
  path: string;
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>;
  /** Request line and headers, byte for byte, with the blank line that ends them. */
  head: string;
  /** What has come of the body: all of it once `whole`. */
  body: Buffer;
  whole: boolean;
  /** The connection it came on, 1 for the first. */
  connection: number;
  /** When its headers were complete, as `performance.now()` has it. */
  at: number;
}

export interface RequestListener {
  /** The headers are complete. Whether to go on reading the body. */
  onHead(request: SeenRequest): boolean;
  /** The body is complete too. */
  onBody(request: SeenRequest): void;
}

/** Reads the requests that come on `socket`, one after another; bodies are as long as Content-Length says. */
export function readRequests(socket: Socket, connection: number, listener: RequestListener): void {
  let pending = Buffer.alloc(0);
  let current: SeenRequest | undefined;
  let missing = 0;
  socket.on("data", (piece: Buffer) => {
    pending = Buffer.concat([pending, piece]);
    while (pending.length > 0 || (current && missing === 0)) {
      if (!current) {
        const end = pending.indexOf("\r\n\r\n");
        if (end < 0) return;
        current = parseHead(pending.toString("latin1", 0, end + 4), connection);
        pending = pending.subarray(end + 4);
        missing = Number(current.headers["content-length"] ?? 0);
        if (!listener.onHead(current)) {
          socket.removeAllListeners("data").resume();
          return;
        }
      }
      const part = pending.subarray(0, missing);
      pending = pending.subarray(part.length);
      missing -= part.length;
      current.body = Buffer.concat([current.body, part]);
      if (missing > 0) return;
      const request = current;
      current = undefined;
      request.whole = true;
      listener.onBody(request);
    }
  });
}

function parseHead(head: string, connection: number): SeenRequest {
  const [line = "", ...fields] = head.trimEnd().split("\r\n");
  const [method = "", path = ""] = line.split(" ");
  const headers = Object.fromEntries(
    fields.map((field) => {
      const colon = field.indexOf(":");
      return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()];
    }),
  );
  const operation = operationOf(path);
  const read = { operation, method, path, headers, head, connection, at: performance.now() };
  return { ...read, nth: 0, body: Buffer.alloc(0), whole: false };
}

function operationOf(path: string): Operation {
  const pathname = path.split("?")[0] ?? "";
  if (pathname.endsWith("/api/v1/conversations")) return "create";
  const match = /\/api\/v1\/conversation\/[^/]+\/(status|stop|output)$/.exec(pathname);
  if (match) return match[1] as Operation;
  // The paths of providers. Gemini has a key tried by its list of models.
  if (/\/v1(?:beta)?\/models$/.test(pathname)) return "status";
  const [, id, what] =
    /\/(?:v1\/responses|agent\/runs|v1\/tasks\/runs|v1(?:beta)?\/interactions|research)(\/[^/]+)?(?:\/(cancel|result))?$/.exec(
      pathname,
    ) ?? [undefined, undefined, "other"];
  if (what === "other") return "other";
  if (id === undefined) return "create";
  return what === "cancel" ? "stop" : what === "result" ? "output" : "status";
}
