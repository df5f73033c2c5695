import { promises as fs } from "node:fs";
import { join } from "node:path";
import { isRequestId } from "../../../../protocol/conversation.js";
import { isObject, parsed } from "../json.js";

/** A model's reply, as it is kept. It holds no key. */
export interface KeptReply {
  text: string;
  finish: string;
  /** What the endpoint counted as input, where it said so. In tokens. */
  promptTokens?: number;
}

/** What is kept of one request to the endpoint. `hash` is the SHA-256 of what the model was asked, in hex. */
export type ExchangeRecord =
  /** Written before the request leaves: a crash must not make it free. `estimate` is in tokens. */
  | { kind: "sent"; hash: string; estimate: number }
  /** How it ended. Without a reply it was refused or cut. `tokens` is what it cost. */
  | { kind: "ended"; hash: string; tokens: number; ms: number; reply?: KeptReply };

/** Keeps the exchanges of each conversation, so that a restarted service pays for none of them twice. */
export interface ExchangeStore {
  /** Those of a conversation, in their order; empty if there is none. */
  read(requestId: string): Promise<ExchangeRecord[]>;
  /** Resolves when the record outlives this process. */
  append(requestId: string, record: ExchangeRecord): Promise<void>;
  /** Forgets a conversation: it was stopped or deleted. */
  delete(requestId: string): Promise<void>;
}

/** Keeps nothing: the conversations end with this process too. */
export const noExchanges: ExchangeStore = {
  read: async () => [],
  append: async () => {},
  delete: async () => {},
};

/** Keeps a file of JSON Lines for each conversation in `folder`, which only its owner can read. */
export function folderExchanges(folder: string): ExchangeStore {
  const fileOf = (requestId: string) => {
    if (!isRequestId(requestId)) throw new Error(`invalid request id ${JSON.stringify(requestId)}`);
    return join(folder, `${requestId}.ndjson`);
  };
  return {
    async read(requestId) {
      const text = await fs.readFile(fileOf(requestId), "utf8").catch(emptyIfMissing);
      // A line that a crash cut off is no record.
      return text.split("\n").map(parsed).filter(isRecord);
    },
    async append(requestId, record) {
      await fs.mkdir(folder, { recursive: true, mode: 0o700 });
      // A blank line before it, so that no record continues a line that a crash cut off.
      await fs.appendFile(fileOf(requestId), `\n${JSON.stringify(record)}\n`, { mode: 0o600 });
    },
    async delete(requestId) {
      await fs.rm(fileOf(requestId), { force: true });
    },
  };
}

function emptyIfMissing(error: NodeJS.ErrnoException): string {
  if (error.code === "ENOENT") return "";
  throw error;
}

function isRecord(value: unknown): value is ExchangeRecord {
  if (!isObject(value) || typeof value.hash !== "string") return false;
  if (value.kind === "sent") return typeof value.estimate === "number";
  return value.kind === "ended" && typeof value.tokens === "number" && typeof value.ms === "number";
}
