/** What PostgreSQL (SQLSTATE) and the system say when a connection fails, as the end of a sentence. */
const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "the connection was refused",
  ECONNRESET: "the connection was reset",
  ENOENT: "there is no socket of a server at that path",
  EACCES: "this user may not use its socket",
  ENOTFOUND: "its host name is not known",
  EAI_AGAIN: "its host name could not be looked up",
  EHOSTUNREACH: "its host cannot be reached",
  ENETUNREACH: "its network cannot be reached",
  ETIMEDOUT: "it did not answer in time",
  "28000": "it does not let this user in",
  "28P01": "it refused the user or the password",
  "3D000": "it has no database of that name",
  "42501": "its user may not create the schema",
  "53300": "it has no connection left",
  "57P03": "it is starting up or shutting down",
};

/**
 * Why a connection failed, as the end of a sentence. The error's own message is not used: it can repeat what the
 * environment holds (PG*, RESEARCH_SERVE_DATABASE).
 */
export function connectionFailure(error: unknown): string {
  const { code, message = "" } = error as { code?: string; message?: string };
  const known = code === undefined ? undefined : REASONS[code];
  if (known !== undefined) return known;
  if (/password must be a string/.test(message)) return "it asks for a password, and PGPASSWORD is not set";
  if (/does not support SSL/.test(message)) return "it does not offer TLS";
  if (/timeout/i.test(message)) return "it did not answer in time";
  return code === undefined ? "the connection ended" : `the connection failed with ${code}`;
}
