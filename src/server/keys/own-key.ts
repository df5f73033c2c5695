import { promises as fs } from "node:fs";
import { join } from "node:path";
import { ignoreExisting } from "../../core/files/async-file-access.js";
import { makePrivateFolder, readIfExists } from "../../core/files/file-access.js";
import { isSendableKey } from "../../core/secrets/hide-key.js";
import { ServiceStartError } from "../start-error.js";
import { generateKey } from "./key-store.js";

/** The name of the file with the key, in the data folder. */
const FILE = "api-key";

/** Maximum size of the file, in bytes. */
const MAX_BYTES = 65_536;

export interface OwnKey {
  apiKey: string;
  /** Whether this call created the key. */
  fresh: boolean;
}

/** Returns the service's own random key (§5). A data folder keeps it in a file of mode 0600, so that clients can go on using it. */
export async function readOrCreateOwnKey(dataDir?: string): Promise<OwnKey> {
  const fresh = generateKey();
  if (dataDir === undefined) return { apiKey: fresh, fresh: true };
  const path = join(dataDir, FILE);
  try {
    makePrivateFolder(dataDir);
    const written = fs.writeFile(path, `${fresh}\n`, { flag: "wx", mode: 0o600, flush: true });
    if (await written.then(() => true, ignoreExisting)) return { apiKey: fresh, fresh: true };
    const apiKey = readIfExists(path, MAX_BYTES)?.trim() ?? "";
    if (!isSendableKey(apiKey)) throw new Error(`${path} holds no key; remove the file to get a new one`);
    await fs.chmod(path, 0o600);
    return { apiKey, fresh: false };
  } catch (error) {
    throw ServiceStartError.fromDataFolder(error, dataDir);
  }
}
