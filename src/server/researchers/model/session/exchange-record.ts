import { isObject } from "../../../../json/is-object.js";

/** A model's reply, as it is kept. It holds no key. */
export interface KeptReply {
  text: string;
  finish: string;
  /** What the endpoint counted as input, if it said so. In tokens. */
  promptTokens?: number;
  /** And as output. */
  outputTokens?: number;
}

/** What is kept of one request to the endpoint. `hash` is the SHA-256 of what the model was asked, in hex. */
export type ExchangeRecord =
  /** Written before the request leaves: a crash must not make it free. `estimate` is in tokens. */
  | { kind: "sent"; hash: string; estimate: number }
  /** How it ended. Without a reply it was refused or cut. `tokens` is what it cost. */
  | { kind: "ended"; hash: string; tokens: number; ms: number; reply?: KeptReply };

/** Whether a stored value is a record that this program can read. */
export function isExchangeRecord(value: unknown): value is ExchangeRecord {
  if (!isObject(value) || typeof value.hash !== "string") return false;
  if (value.kind === "sent") return typeof value.estimate === "number";
  if (value.kind !== "ended" || typeof value.tokens !== "number" || typeof value.ms !== "number")
    return false;
  const { reply } = value;
  return (
    reply === undefined ||
    (isObject(reply) && typeof reply.text === "string" && typeof reply.finish === "string")
  );
}
