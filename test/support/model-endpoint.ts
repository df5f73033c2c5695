import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { text } from "node:stream/consumers";
import { listen } from "./listen.js";

/** The body of a chat completion request, as far as tests look at it. */
export interface ChatBody {
  model: string;
  stream?: boolean;
  stream_options?: unknown;
  temperature?: number;
  max_tokens?: number;
  max_completion_tokens?: number;
  messages: { role: string; content: string }[];
  response_format?: { type: string; json_schema?: { name: string; schema: unknown } };
}

/** A request that came. */
export interface ChatRequest {
  /** From 1. */
  nth: number;
  url: string;
  headers: IncomingHttpHeaders;
  raw: string;
  body: ChatBody;
  /** Which step the instructions are for. */
  step: "plan" | "notes" | "answer" | "check" | "result";
  /** What the user's first message says. */
  input: string;
  socket: Socket;
  /** Resolves when its connection is closed. */
  closed: Promise<void>;
}

/** Answers one request. */
export type Play = (response: ServerResponse, request: ChatRequest) => void | Promise<void>;

export interface ReplyOptions {
  /** What the endpoint says it counted; none: it says nothing. */
  usage?: { prompt_tokens: number; completion_tokens: number } | undefined;
  finish?: string;
  /** Sends the stream to here, in characters, and breaks the connection. */
  cutAt?: number;
  /** Sends the stream to here, in characters, and then nothing more. */
  hangAt?: number;
  /** One JSON object instead of a stream. */
  isWhole?: boolean;
}

const USAGE = { prompt_tokens: 1_000, completion_tokens: 100 };

/** A reply of the model: a text, or a value that it writes as JSON. */
export function says(reply: unknown, options: ReplyOptions = {}): Play {
  const content = typeof reply === "string" ? reply : JSON.stringify(reply);
  const { finish = "stop", isWhole } = options;
  const usage = "usage" in options ? options.usage : USAGE;
  return (response) => {
    if (isWhole) {
      response.writeHead(200, { "content-type": "application/json" });
      const choices = [{ index: 0, message: { role: "assistant", content }, finish_reason: finish }];
      response.end(JSON.stringify({ choices, ...(usage && { usage }) }));
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    const send = (event: object) => response.write(`data: ${JSON.stringify(event)}\n\n`);
    const limit = options.cutAt ?? options.hangAt ?? content.length;
    for (let at = 0; at < limit; at += 7) {
      send({ choices: [{ index: 0, delta: { content: content.slice(at, Math.min(at + 7, limit)) } }] });
    }
    if (options.hangAt !== undefined) return;
    if (options.cutAt !== undefined) {
      setImmediate(() => response.socket?.destroy());
      return;
    }
    send({ choices: [{ index: 0, delta: {}, finish_reason: finish }] });
    if (usage) send({ choices: [], usage });
    response.end("data: [DONE]\n\n");
  };
}

/** A refusal, or any other answer that is no completion. */
export function answers(status: number, body: unknown, headers: Record<string, string> = {}): Play {
  return (response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  };
}

/** Never answers. */
export const hangs: Play = () => {};

/** Closes the connection without an answer. */
export const resets: Play = (response) => void response.socket?.resetAndDestroy();

/** An OpenAI-compatible endpoint on loopback that does what a script says and notes what it is sent. */
export interface ModelEndpoint {
  /** For `--model-url`. */
  url: string;
  requests: ChatRequest[];
  /** How many requests of one step came. */
  count(step: ChatRequest["step"]): number;
  close(): Promise<void>;
}

/** Starts one; it ends with the test file at the latest. */
export async function modelEndpoint(script: (request: ChatRequest) => Play): Promise<ModelEndpoint> {
  const requests: ChatRequest[] = [];
  const server = createServer((message, response) => {
    read(message, requests.length + 1).then(
      (request) => {
        requests.push(request);
        return script(request)(response, request);
      },
      () => message.socket.destroy(),
    );
  });
  const port = await listen(server);
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    count: (step) => requests.filter((request) => request.step === step).length,
    close,
  };
}

async function read(message: IncomingMessage, nth: number): Promise<ChatRequest> {
  const { socket, headers, url = "" } = message;
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  const raw = await text(message);
  const body = JSON.parse(raw) as ChatBody;
  const [system, user] = body.messages;
  return {
    nth,
    url,
    headers,
    raw,
    body,
    step: stepOf(system?.content ?? ""),
    input: user?.content ?? "",
    socket,
    closed,
  };
}

function stepOf(instructions: string): ChatRequest["step"] {
  if (instructions.startsWith("You plan")) return "plan";
  if (instructions.startsWith("You take notes")) return "notes";
  if (instructions.startsWith("You check")) return "check";
  return instructions.startsWith("You answer") ? "answer" : "result";
}

/** The sentences of a check, each with its number. */
export function sentencesAsked({ input }: Pick<ChatRequest, "input">): [nth: number, text: string][] {
  return [...input.matchAll(/^\[Sentence (\d+),.*?\] (.*)$/gm)].map(([, nth, text = ""]) => [
    Number(nth),
    text,
  ]);
}

/** The verdicts of a model: "stated", but for sentences with a text that `others` has. */
export function verdicts(request: ChatRequest, others: Record<string, string> = {}): Play {
  const lists: Record<string, number[]> = { stated: [], "not stated": [], contradicted: [] };
  for (const [nth, text] of sentencesAsked(request)) {
    const verdict = Object.entries(others).find(([part]) => text.includes(part))?.[1] ?? "stated";
    lists[verdict] = [...(lists[verdict] ?? []), nth];
  }
  return says(lists);
}

/** What a well-behaved model does in each step; tests replace single steps. */
export interface Steps {
  plan?: Play;
  notes?: Play | ((request: ChatRequest) => Play);
  answer?: Play;
  result?: Play;
}

/** The number of the source in the input of a notes step that holds `text`. */
export function sourceWith({ input }: ChatRequest, text: string): number {
  const parts = input.split(/^\[Source (\d+): .*\]$/m);
  const at = parts.findIndex((part, i) => i % 2 === 0 && i > 0 && part.includes(text));
  return at < 0 ? 0 : Number(parts[at - 1]);
}
