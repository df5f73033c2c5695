/** The variables that configure the service: keys, databases, models, search engines. */
const OF_SERVICE = /^(?:RESEARCH_(?:SERVE|MODEL|SEARCH|UPSTREAM)_|PG)/i;
const OF_CLIENT = /^RESEARCH_API_KEY(?:_FILE)?$/i;

/** Returns the environment for a child process, without the variables that contain secrets (contract §4). */
export function removeSecrets(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return removeVariables(removeServiceSecrets(env), OF_CLIENT);
}

/** Returns the environment for a child that may send requests to the service with its user's key. */
export function removeServiceSecrets(env: Readonly<NodeJS.ProcessEnv>): NodeJS.ProcessEnv {
  return removeVariables(env, OF_SERVICE);
}

function removeVariables(env: Readonly<NodeJS.ProcessEnv>, names: RegExp): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !names.test(name)));
}
