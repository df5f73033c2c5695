import { timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Clock } from "../../core/clock.js";
import type { Caller } from "../conversations/conversation-store.js";
import { hashKey, isKeyValid, type KeyStore, type ServiceKey } from "../keys/key-store.js";
import { HttpError } from "./responses.js";

/** Finds the key of a request by the bearer token (§5). `keyName`: the name of an added key. Rejects with a HttpError (401). */
export type Authenticate = (request: IncomingMessage) => Promise<{ caller: Caller; keyName?: string }>;

/** Returns the token of the Authorization header; undefined if the header has no bearer token. */
export function readBearerToken(request: IncomingMessage): string | undefined {
  return /^Bearer +([^\s]+) *$/i.exec(request.headers.authorization ?? "")?.[1];
}

/** The only key of a service to which no keys were added. */
export type SingleKey = Pick<ServiceKey, "id" | "hash" | "tier" | "limits">;

/** Creates a check that accepts only added keys once a key was added, and only the key `single` before that. */
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
      if (key === undefined || !isKeyValid(key, clock.now())) throw createInvalidKeyError();
      const { id: keyId, limits, budgets } = key;
      return { caller: { keyId, limits, ...(budgets && { budgets }), ownOnly: true }, keyName: key.name };
    }
    // Compare in constant time, so that the time does not reveal how much of a token is right.
    if (!single || !timingSafeEqual(Buffer.from(hash), Buffer.from(single.hash)))
      throw createInvalidKeyError();
    return { caller: { keyId: single.id, limits: single.limits, ownOnly: false } };
  };
}

/** Creates the error INVALID_API_KEY of §7. */
export function createInvalidKeyError(message = "The API key is missing, invalid or expired."): HttpError {
  return new HttpError("INVALID_API_KEY", message, { "WWW-Authenticate": "Bearer" });
}
