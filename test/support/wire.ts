import { request as httpRequest } from "node:http";
import { connect } from "node:net";

export interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
  json: {
    status?: boolean;
    version?: string;
    data?: Record<string, unknown>;
    error?: { message: string; code: string };
  };
}

export interface Ask {
  method?: string;
  path: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  key?: string | null;
}

/** One exchange with `node:http` alone. `key: null` sends no Authorization header. */
export function ask(
  baseUrl: string,
  { method = "GET", path, headers = {}, body, key = null }: Ask,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const auth = key === null ? {} : { Authorization: `Bearer ${key}` };
    const request = httpRequest(
      `${baseUrl}${path}`,
      { method, headers: { ...auth, ...headers } },
      (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", reject);
        response.on("end", () => {
          const text = Buffer.concat(chunks).toString("utf8");
          const json = parsed(text);
          if (json.error?.message === "") return reject(new Error(`${json.error.code} says nothing`));
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json });
        });
      },
    );
    request.on("error", reject);
    request.end(body);
  });
}

/** POST with the JSON content type. */
export function post(baseUrl: string, path: string, key: string | null, body?: unknown): Promise<Answer> {
  const text = body === undefined ? {} : { body: JSON.stringify(body) };
  return ask(baseUrl, {
    method: "POST",
    path,
    key,
    headers: { "Content-Type": "application/json" },
    ...text,
  });
}

/** Sends raw bytes and gives back all that comes until the other side closes, or until `hangUpMs` have passed. */
export function raw(baseUrl: string, bytes: string, hangUpMs?: number): Promise<string> {
  const { hostname, port } = new URL(baseUrl);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname.replace(/^\[|\]$/g, ""));
    let text = "";
    socket.setEncoding("latin1");
    socket.on("data", (chunk: string) => {
      text += chunk;
    });
    socket.on("error", reject);
    socket.on("close", () => resolve(text));
    socket.write(bytes, "latin1");
    if (hangUpMs !== undefined) setTimeout(() => socket.resetAndDestroy(), hangUpMs);
  });
}

function parsed(text: string): Answer["json"] {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
