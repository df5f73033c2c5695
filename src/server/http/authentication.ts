import { timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Clock } from "../../core/clock.js";
import type { HourlyLimit, Tier } from "../../core/protocol/limits.js";
import type { Caller } from "../conversations/conversation-store.js";
import { hashKey, isValid, type KeyStore } from "../keys/key-store.js";
import { HttpError } from "./responses.js";

/** §5: who sent a request, by its bearer token, and the name of an added key; rejects with a HttpError (401). */
export type Authenticate = (request: IncomingMessage) => Promise<{ caller: Caller; keyName?: string }>;

/** The token of the Authorization header; undefined if there is none. */
export function readBearerToken(request: IncomingMessage): string | undefined {
  return /^Bearer +([^\s]+) *$/i.exec(request.headers.authorization ?? "")?.[1];
}

/** The one key of a service without added keys. */
export interface SingleKey {
  keyId: string;
  hash: string;
  tier: Tier;
  limits: HourlyLimit;
}

/** Once a key was added, only added keys are valid; before that, `single` is. */
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
    // The comparison takes the same time whatever is sent.
    if (!single || !timingSafeEqual(Buffer.from(hash), Buffer.from(single.hash)))
      throw createInvalidKeyError();
    return { caller: { keyId: single.keyId, limits: single.limits, ownOnly: false } };
  };
}

/** §7, INVALID_API_KEY. */
export function createInvalidKeyError(message = "The API key is missing, invalid or expired."): HttpError {
  return new HttpError("INVALID_API_KEY", message, { "WWW-Authenticate": "Bearer" });
}
