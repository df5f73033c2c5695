import { describeError } from "../core/text/format-text.js";

/** Thrown if the service cannot start. The message is a sentence for the person who started it. */
export class ServiceStartError extends Error {
  override name = "ServiceStartError";

  /** Converts an error from reading or writing in the data folder. */
  static fromDataFolder(cause: unknown, dataDir: string): ServiceStartError {
    return new ServiceStartError(`The data folder ${dataDir} cannot be used: ${describeError(cause)}`, {
      cause,
    });
  }

  /** Converts an error from `server.listen`. */
  static fromListening(cause: NodeJS.ErrnoException, host: string, port: number): ServiceStartError {
    const { code, message } = cause;
    const why: Readonly<Record<string, string>> = {
      EADDRINUSE: `Port ${port} of ${host} is in use by another program.`,
      EACCES: `Port ${port} of ${host} may not be used.`,
    };
    return new ServiceStartError(why[code ?? ""] ?? `${host} cannot be listened on: ${message}.`, { cause });
  }
}
