import { once } from "node:events";
import { constants } from "node:os";
import { onAbort } from "../../core/clock.js";
import { removeSecrets } from "../../core/secrets/remove-secrets.js";
import { endGroup, spawnGroup } from "./process-group.js";

export interface ExecOptions {
  /** The command line, for a shell. */
  command: string;
  baseUrl: string;
  apiKey: string;
  env: NodeJS.ProcessEnv;
  /** Ends the command and all its processes with SIGTERM, and with SIGKILL after 5 s. */
  signal: AbortSignal;
}

/** Runs a command with the service's address and key in its environment. Resolves with its exit code, or 128 + n for signal n. */
export async function execCommand({ command, baseUrl, apiKey, env, signal }: ExecOptions): Promise<number> {
  const options = {
    ...removeSecrets(env),
    RESEARCH_BASE_URL: baseUrl,
    RESEARCH_API_KEY: apiKey,
    RESEARCH_PROVIDER: "research",
  };
  // A profile would make clients in the command use another service.
  Reflect.deleteProperty(options, "RESEARCH_PROFILE");
  const child = spawnGroup(command, options, "inherit");
  const release = onAbort(signal, () => void endGroup(child));
  try {
    const [code, killedBy]: [number | null, NodeJS.Signals | null] = (await once(child, "exit")) as never;
    return code ?? 128 + (killedBy === null ? 0 : constants.signals[killedBy]);
  } finally {
    release();
    await endGroup(child);
  }
}
