import type { Readable, Writable } from "node:stream";
import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResponse,
  type JSONRPCMessage,
  ProtocolErrorCode,
  type Transport,
} from "@modelcontextprotocol/server";
import { isObject, tryParseExact } from "../core/json/exact-json.js";

/** The largest message, in bytes: a prompt and a schema of 1 MiB each, with every byte escaped as six. A larger one ends the connection. */
const MOST_MESSAGE_BYTES = 16 << 20;

/**
 * A transport of JSON-RPC over a pair of streams, one message per line. Unlike the SDK's own transport it answers invalid
 * messages (JSON-RPC 2.0 §5), and the schema of a create request keeps its text, because JavaScript would round its numbers.
 */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onmessage?: (message: JSONRPCMessage) => void;
  #isClosed = false;

  constructor(
    private readonly stdin: Readable,
    private readonly stdout: Writable,
  ) {}

  async start(): Promise<void> {
    const close = () => void this.close();
    this.stdout.on("error", close);
    this.#readLines().then(close, close);
  }

  send(message: JSONRPCMessage): Promise<void> {
    return this.#write(message);
  }

  /** Closes the connection and stdin, which would keep the process alive. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.stdin.destroy();
    this.onclose?.();
  }

  async #readLines(): Promise<void> {
    let pieces: Buffer[] = [];
    let size = 0;
    for await (const chunk of this.stdin as AsyncIterable<Buffer>) {
      let from = 0;
      for (let end = chunk.indexOf("\n"); end >= 0; end = chunk.indexOf("\n", from)) {
        const line = Buffer.concat([...pieces, chunk.subarray(from, end)]);
        if (line.length > MOST_MESSAGE_BYTES) return;
        this.#take(line.toString("utf8"));
        [pieces, size, from] = [[], 0, end + 1];
      }
      pieces.push(chunk.subarray(from));
      size += chunk.length - from;
      if (size > MOST_MESSAGE_BYTES) return;
    }
  }

  #take(line: string): void {
    if (line.trim() === "") return;
    const message = tryParseExact(line, "params", "arguments", "schema");
    if (message === undefined) {
      this.#refuse(null, ProtocolErrorCode.ParseError, "Parse error: a line is not valid JSON");
      return;
    }
    if (isJSONRPCRequest(message) || isJSONRPCNotification(message) || isJSONRPCResponse(message)) {
      wrapArguments(message);
      this.onmessage?.(message);
      return;
    }
    const { id, method, result, error } = Object(message) as Record<string, unknown>;
    // Do not answer an invalid response: two programs could go on doing that for ever.
    if (method === undefined && (result !== undefined || error !== undefined)) return;
    const validId = typeof id === "string" || Number.isInteger(id) ? (id as string | number) : null;
    this.#refuse(validId, ProtocolErrorCode.InvalidRequest, "Invalid Request: not a JSON-RPC 2.0 message");
  }

  #refuse(id: string | number | null, code: number, message: string): void {
    // Ignore a failed write, because the stream's error event ends the connection.
    this.#write({ jsonrpc: "2.0", id, error: { code, message } }).catch(() => {});
  }

  #write(message: object): Promise<void> {
    return new Promise((resolve, reject) => {
      this.stdout.write(`${JSON.stringify(message)}\n`, (error) => (error ? reject(error) : resolve()));
    });
  }
}

/**
 * Puts arguments that are not an object into an object that every tool rejects. The model sees the tool's error, but would not see
 * the SDK's.
 */
function wrapArguments(message: JSONRPCMessage): void {
  const params = "params" in message ? (message.params as { arguments?: unknown } | undefined) : undefined;
  const toolArguments = params?.arguments;
  if (params && toolArguments !== undefined && !isObject(toolArguments))
    params.arguments = { arguments: toolArguments };
}
