import { errorText } from "../text/phrases.js";

export type StartErrorCode =
  | "PORT_IN_USE"
  | "PORT_NOT_ALLOWED"
  | "HOST_NOT_AVAILABLE"
  | "DATA_HELD"
  | "DATA_UNUSABLE"
  | "DATABASE_UNUSABLE";

/** The service cannot start; the message is a sentence for the person who tried. */
export class ServiceStartError extends Error {
  override name = "ServiceStartError";
  constructor(
    readonly code: StartErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }

  /** Of what reading or writing in the data folder reports. */
  static ofDataFolder(cause: unknown, dataDir: string): ServiceStartError {
    const message = `The data folder ${dataDir} cannot be used: ${errorText(cause)}`;
    return new ServiceStartError("DATA_UNUSABLE", message, { cause });
  }

  /** Of what `server.listen` reports. */
  static ofListening(cause: NodeJS.ErrnoException, host: string, port: number): ServiceStartError {
    const failed = (code: StartErrorCode, message: string) => new ServiceStartError(code, message, { cause });
    const { code, message } = cause;
    if (code === "EADDRINUSE")
      return failed("PORT_IN_USE", `Port ${port} of ${host} is in use by another program.`);
    if (code === "EACCES") return failed("PORT_NOT_ALLOWED", `Port ${port} of ${host} may not be used.`);
    return failed("HOST_NOT_AVAILABLE", `${host} cannot be listened on: ${message}.`);
  }
}
