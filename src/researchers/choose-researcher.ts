import type { ModelResearch } from "../app/research-model.js";
import type { Clock } from "../core/clock.js";
import { describeSystemError, type Environment, LocalError } from "../core/files/local-error.js";
import type { Researcher } from "../core/researcher.js";
import { createExtractiveResearcher } from "../reader/passages/extractive-researcher.js";
import type { ConversationStore } from "../server/conversations/conversation-store.js";
import type { Log } from "../server/monitoring/operator-log.js";
import { createCommandResearcher } from "./command-researcher.js";
import type { Upstream } from "./upstream-researcher.js";

/** The flags that determine the researcher. */
export interface ResearcherOptions {
  researcher?: string | undefined;
  sources?: string | undefined;
  search?: string | undefined;
  /** The service's own files, which are never read as sources. */
  data?: string | undefined;
  apiKeyFile?: string | undefined;
}

export interface ResearcherParts {
  store: Pick<ConversationStore, "exchanges" | "remote">;
  /** The result of `findModel`. */
  model: ModelResearch | undefined;
  voice: { log: Log; notice(code: string, text: string): Promise<void> };
  /** If set, used instead of every other researcher. */
  upstream?: Upstream | undefined;
  /** The researcher that gives the prepared answers of `--answers`; it replaces the one that the flags choose. */
  answers?: Researcher | undefined;
}

/** Creates the researcher that the flags determine. `workers`: the most jobs at a time. Rejects with a LocalError for an unusable folder. */
export async function chooseResearcher(
  { host }: { host: { env: Environment; clock: Clock } },
  { researcher, sources, search, data, apiKeyFile }: ResearcherOptions,
  { store, model, voice, upstream, answers }: ResearcherParts,
  workers: number,
): Promise<Researcher> {
  if (upstream) {
    const { createUpstreamResearcher } = await import("./upstream-researcher.js");
    const { remote } = store;
    return createUpstreamResearcher({ upstream, remote, atOnce: workers, clock: host.clock, log: voice.log });
  }
  if (answers) return answers;
  if (researcher) return createCommandResearcher({ command: researcher, env: { ...host.env } });
  const { RESEARCH_MODEL_API_KEY_FILE, RESEARCH_SEARCH_API_KEY_FILE } = host.env;
  const secretFiles = [data, apiKeyFile, RESEARCH_MODEL_API_KEY_FILE, RESEARCH_SEARCH_API_KEY_FILE];
  const log = (line: string) => voice.log(line, { level: "debug" });
  const sendNotice = (text: string) => void voice.notice("SOURCES", text);
  const exclude = secretFiles.flatMap((path) => path || []);
  const folder = { root: sources ?? ".", exclude, notice: sendNotice };
  try {
    if (model === undefined) return createExtractiveResearcher(folder);
    const { exchanges } = store;
    const service = { exchanges, log, notice: (text: string) => void voice.notice("MODEL", text) };
    return await model(search !== undefined && sources === undefined ? undefined : folder, service);
  } catch (error) {
    throw new LocalError(`the folder ${folder.root} could not be read: ${describeSystemError(error)}`, {
      cause: error,
    });
  }
}
