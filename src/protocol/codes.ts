/** §7: the error codes that the interface shows, with the HTTP status each comes with. */
export const SERVICE_CODES = {
  VALIDATION_ERROR: 400,
  INVALID_API_KEY: 401,
  RATE_LIMIT_EXCEEDED: 429,
  REQUEST_NOT_FOUND: 404,
  CONVERSATION_ALREADY_COMPLETED: 400,
} as const;

/** §9: the version that stands in every path, and the one the local service states in its envelopes. */
export const API_VERSION = "1.0.0";
