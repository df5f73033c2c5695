/** Matches the variables of the client's key, and the service's variables that may contain keys: of databases, models, search engines. */
const SECRETS = /^(?:RESEARCH_(?:SERVE|MODEL|SEARCH|UPSTREAM)_|PG|RESEARCH_API_KEY(?:_FILE)?$)/i;

/** Returns the environment for a child process, without the variables that contain secrets (contract §4). */
export function removeSecrets(env: Readonly<NodeJS.ProcessEnv>): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !SECRETS.test(name)));
}
