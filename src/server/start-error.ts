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
    const why = errorText(cause);
    const message = `The data folder ${dataDir} cannot be used: ${why}`;
    return new ServiceStartError("DATA_UNUSABLE", message, { cause });
  }

  /** Of what `server.listen` reports. */
  static ofListening(cause: NodeJS.ErrnoException, host: string, port: number): ServiceStartError {
    switch (cause.code) {
      case "EADDRINUSE":
        return new ServiceStartError("PORT_IN_USE", `Port ${port} of ${host} is in use by another program.`, {
          cause,
        });
      case "EACCES":
        return new ServiceStartError("PORT_NOT_ALLOWED", `Port ${port} of ${host} may not be used.`, {
          cause,
        });
      default:
        return new ServiceStartError(
          "HOST_NOT_AVAILABLE",
          `${host} cannot be listened on: ${cause.message}.`,
          { cause },
        );
    }
  }
}
