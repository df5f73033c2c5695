import { timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Clock } from "../../core/clock.js";
import type { HourlyLimit, Tier } from "../../core/protocol/limits.js";
import type { Caller } from "../conversations/conversation-store.js";
import { hashKey, isValid, type KeyStore } from "../keys/key-store.js";
import { HttpError } from "./responses.js";

/** §5: identifies the key of a request by its bearer token, with an added key's name; rejects with a HttpError (401). */
export type Authenticate = (request: IncomingMessage) => Promise<{ caller: Caller; keyName?: string }>;

/** Returns the token of the Authorization header; undefined without one. */
export function readBearerToken(request: IncomingMessage): string | undefined {
  return /^Bearer +([^\s]+) *$/i.exec(request.headers.authorization ?? "")?.[1];
}

/** The single key of a service without added keys. */
export interface SingleKey {
  keyId: string;
  hash: string;
  tier: Tier;
  limits: HourlyLimit;
}

/** Accepts only added keys once a key was added, and `single` before that. */
export function createAuthenticator(
  keys: KeyStore,
  single: SingleKey | undefined,
  clock: Clock,
): Authenticate {
  return async (request) => {
    const token = readBearerToken(request);
    if (token === undefined) throw createInvalidKeyError();
    const hash = hashKey(token);
    if (await keys.isInUse()) {
      const key = await keys.find(hash);
      if (key === undefined || !isValid(key, clock.now())) throw createInvalidKeyError();
      const { id: keyId, limits, budgets } = key;
      return { caller: { keyId, limits, ...(budgets && { budgets }), ownOnly: true }, keyName: key.name };
    }
    // The comparison takes the same time for every token.
    if (!single || !timingSafeEqual(Buffer.from(hash), Buffer.from(single.hash)))
      throw createInvalidKeyError();
    return { caller: { keyId: single.keyId, limits: single.limits, ownOnly: false } };
  };
}

/** §7, INVALID_API_KEY. */
export function createInvalidKeyError(message = "The API key is missing, invalid or expired."): HttpError {
  return new HttpError("INVALID_API_KEY", message, { "WWW-Authenticate": "Bearer" });
}
