import type { ConversationStore } from "../../../server/conversations/conversation-store.js";
import { commandResearcher } from "../../../server/researchers/command.js";
import { extractiveResearcher } from "../../../server/researchers/extractive/extractive-researcher.js";
import type { Researcher } from "../../../server/researchers/researcher.js";
import type { Upstream } from "../../../server/researchers/upstream.js";
import { inWords, LocalError } from "../../../store/errors.js";
import type { Context } from "../../context.js";
import type { Voice } from "./announce.js";
import { type ModelEndpoint, researcherWith } from "./model.js";
import type { ServeOptions } from "./options.js";

export interface ResearcherParts {
  store: Pick<ConversationStore, "exchanges" | "remote">;
  /** How many conversations are PROCESSING at a time. */
  workers: number;
  /** What `modelOf` made of the flags. */
  model: ModelEndpoint | undefined;
  voice: Pick<Voice, "log" | "notice">;
  upstream?: Upstream;
}

/**
 * The researcher that the flags name: a program, a model, or the built-in one. On a folder it never reads what belongs
 * to the service. Rejects with a LocalError for a folder that cannot be read.
 */
export async function researcherFor(
  ctx: Context,
  { researcher, sources, data, apiKeyFile }: ServeOptions,
  { store, workers, model, voice, upstream }: ResearcherParts,
): Promise<Researcher> {
  const { host } = ctx;
  if (upstream) {
    const { upstreamResearcher } = await import("../../../server/researchers/upstream.js");
    return upstreamResearcher({ upstream, remote: store.remote, clock: host.clock, log: voice.log });
  }
  const log = (line: string) => voice.log(line, { level: "debug" });
  if (researcher) return commandResearcher({ command: researcher, env: { ...host.env } });
  const { RESEARCH_MODEL_API_KEY_FILE, RESEARCH_SEARCH_API_KEY_FILE } = host.env;
  const own = [data, apiKeyFile, RESEARCH_MODEL_API_KEY_FILE, RESEARCH_SEARCH_API_KEY_FILE];
  const exclude = own.flatMap((path) => path || []);
  const notice = (text: string) => void voice.notice("SOURCES", text);
  const root = sources ?? ".";
  try {
    if (model === undefined) return extractiveResearcher({ sources: root, exclude, workers, notice, log });
    return await researcherWith(
      ctx,
      model,
      model.search !== undefined && sources === undefined ? undefined : { root, exclude, notice },
      { exchanges: store.exchanges, log, notice: (text) => void voice.notice("MODEL", text) },
    );
  } catch (error) {
    throw new LocalError(`the folder ${root} could not be read: ${inWords(error)}`, { cause: error });
  }
}
