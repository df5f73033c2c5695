import { RefusedError, type ResearchError } from "../client/errors.js";
import { EXIT_CODES } from "./errors.js";

/** What the error that answers that question says about the key. */
export function readKeyAnswer(
  error: ResearchError,
  isProvider: boolean,
): "refused" | "valid" | "no-answer" | "not-the-service" {
  if (error instanceof RefusedError && isRefusedKey(error)) return "refused";
  const enveloped = error instanceof RefusedError ? error.enveloped : !(error.code in EXIT_CODES);
  // A provider documents no 5xx, so one says nothing about the key.
  if (enveloped && !(isProvider && (error.httpStatus ?? 0) >= 500)) return "valid";
  return error.httpStatus === undefined && error.code === "UNREACHABLE" ? "no-answer" : "not-the-service";
}

/** Contract §2: any other error in an envelope, a 403 too, comes from a service that knows the key. */
function isRefusedKey({ httpStatus, code }: RefusedError): boolean {
  return httpStatus === 401 || code === "INVALID_API_KEY";
}
