/** What the service and its clients are configured with: keys, databases, models. */
const WITHHELD = /^(?:RESEARCH_API_KEY(?:_FILE)?$|RESEARCH_SERVE_|RESEARCH_MODEL_|PG)/i;

/** The environment for a child process, without what is no business of it (contract §4). */
export function withoutSecrets(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !WITHHELD.test(name)));
}
