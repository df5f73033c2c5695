import { timingSafeEqual } from "node:crypto";
import { keyHash } from "./key-store.js";

/** Whether `sent` is the secret. The comparison takes the same time whatever is sent. */
export function sameSecret(sent: string | undefined, secret: string): boolean {
  return sent !== undefined && timingSafeEqual(Buffer.from(keyHash(sent)), Buffer.from(keyHash(secret)));
}
