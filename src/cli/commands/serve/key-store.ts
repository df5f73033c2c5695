import { existsSync, statSync } from "node:fs";
import { UsageError } from "../../../machine/errors.js";
import { makeFolder } from "../../../server/folders.js";
import { KeyFile } from "../../../server/keys/key-file.js";
import type { KeyStore } from "../../../server/keys/key-store.js";
import { ServiceStartError } from "../../../server/start-error.js";
import { inWords, LocalError } from "../../../store/errors.js";
import type { Context } from "../../context.js";
import { databaseOf } from "./store.js";

/** Which store's keys. */
export interface KeyStoreOptions {
  data?: string;
  database?: string;
}

/**
 * Opens the keys of a service, which may be running. A data folder that does not exist is made only with `creates`.
 * Throws UsageError if no store is named, LocalError for an unusable or a missing one.
 */
export async function openKeys(
  ctx: Context,
  { data, database }: KeyStoreOptions,
  { creates }: { creates: boolean },
): Promise<KeyStore> {
  const { clock } = ctx.host;
  const url = databaseOf(ctx, { ...(data && { data }), ...(database && { database }) });
  try {
    if (url !== undefined) {
      const { openPostgresKeyStore } = await import("../../../server/postgres/open.js");
      return await openPostgresKeyStore(url, clock);
    }
    if (data === undefined) {
      throw new UsageError(
        "no store is named",
        "Say where the service keeps its data: --data DIR or --database URL.",
      );
    }
    if (creates) await makeFolder(data);
    else if (!existsSync(data)) throw new LocalError(`there is no data folder ${data}`);
    if (!statSync(data).isDirectory()) throw new Error("it is not a folder");
    return new KeyFile(data, clock);
  } catch (error) {
    if (error instanceof UsageError || error instanceof LocalError) throw error;
    if (error instanceof ServiceStartError) throw new LocalError(error.message, { cause: error });
    throw new LocalError(`the data folder ${data} cannot be used: ${inWords(error)}`, { cause: error });
  }
}
