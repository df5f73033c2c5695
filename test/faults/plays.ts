import dns from "node:dns";
import type { Behaviour } from "../support/behaviours.js";
import * as does from "../support/behaviours.js";
import { type FaultServer, type FaultServerOptions, REFUSED_URL } from "../support/fault-server.js";
import { resettingUrl } from "../support/resetting-server.js";
import type { Command } from "./cell.js";

/** The request that everything but create is about. */
export const ID = "5f0c9a3e-7b1d-4c52-9d86-2f1e0a4b6c8d";
export const OTHER_ID = "0b9d7c11-93a2-4f6e-8a55-c4e1d2f3a6b7";

/** How a fault is played: what a request meets, or what is wrong with the way to the service. */
export type Play = {
  /** Whether it lasts until the limit of the exchange. */
  lasts?: boolean;
} & (
  | { on: "request"; behaviour: (operation: Command) => Behaviour }
  | {
      on: "way";
      server?: FaultServerOptions;
      /** How every look-up of a name ends; `never` leaves it open. */
      lookup?: string;
      /** What leads the program astray; by default it goes to the server. */
      env?: (server: FaultServer) => Record<string, string> | Promise<Record<string, string>>;
    }
);

/** A good answer of each operation (§4). */
export function goodAnswer(operation: Command, status = "COMPLETED"): does.AnswerParts {
  const created_at = "2030-01-01T00:00:00.000+00:00";
  const data = {
    create: { request_id: ID, status: "PENDING", created_at },
    stop: { request_id: ID, status: "STOPPED", message: "stopped" },
    status: { request_id: ID, status, created_at },
    watch: { request_id: ID, status, created_at },
    output: { request_id: ID, status, output: "the result" },
  }[operation];
  return { body: does.envelope(data) };
}

export const plays = {
  always: (behaviour: Behaviour): Play => ({ on: "request", behaviour: () => behaviour }),
  hang: { on: "request", lasts: true, behaviour: () => does.hang() } as Play,
  /** A good answer of which only so many bytes of its body come. */
  cut: (bytes: number, end: "end" | "reset" = "end", length?: "none"): Play => ({
    on: "request",
    behaviour: (operation) =>
      does.truncate({ ...goodAnswer(operation), ...(length && { length }) }, bytes, end),
  }),
  /** A byte a second, which is beyond the limit of an exchange in these tests. */
  drip: (from: "head" | "body"): Play => ({
    on: "request",
    lasts: true,
    behaviour: (operation) => does.drip(goodAnswer(operation), 1_000, from),
  }),
  retryDate: (status: number, seconds: number): Play => ({
    on: "request",
    behaviour: () => {
      const date = new Date(Date.now() + seconds * 1_000).toUTCString();
      return does.refuse(status, "RATE_LIMIT_EXCEEDED", { "retry-after": date });
    },
  }),
};

/** Makes every look-up of a name end so in this process, until the returned function is called. */
export function failLookups(code: string): () => void {
  const real = dns.lookup;
  const fail = (_name: string, _options: object, callback: (error: Error) => void) => {
    if (code !== "never")
      process.nextTick(callback, Object.assign(new Error(`getaddrinfo ${code}`), { code }));
  };
  dns.lookup = fail as typeof dns.lookup;
  return () => {
    dns.lookup = real;
  };
}

/** An address that has to be looked up. */
export const NAMED = { RESEARCH_BASE_URL: "http://research.example", RESEARCH_INSECURE_HTTP: "1" };

export const ways = {
  refused: { on: "way", env: () => ({ RESEARCH_BASE_URL: REFUSED_URL }) } as Play,
  resetOnAccept: {
    on: "way",
    env: async () => ({ RESEARCH_BASE_URL: await resettingUrl() }),
  } as Play,
  lookup: (code: string): Play => ({
    on: "way",
    lasts: code === "never",
    lookup: code,
    env: () => NAMED,
  }),
  noTls: {
    on: "way",
    server: { onConnection: () => "speak-no-http" },
    env: ({ port }) => ({ RESEARCH_BASE_URL: `https://127.0.0.1:${port}` }),
  } as Play,
  selfSigned: {
    on: "way",
    server: { tls: true },
    env: ({ port }) => ({ RESEARCH_BASE_URL: `https://127.0.0.1:${port}` }),
  } as Play,
  /** The server answers CONNECT with 403, as it answers whatever it does not know. */
  proxyRefuses: {
    on: "way",
    env: ({ url }) => ({ RESEARCH_BASE_URL: "https://research.example", HTTPS_PROXY: url }),
  } as Play,
};
