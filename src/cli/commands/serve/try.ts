import { openResearchModel } from "../../../app/research-model.js";
import { readOrCreateOwnKey } from "../../../server/keys/own-key.js";
import type { Context } from "../../command-context.js";
import { readRequestBody } from "../../input/read-request.js";
import { checkResultOptions } from "../../results/show-result.js";
import { showRun } from "../run/run.js";
import { openAnswersFlag } from "./answers-flag.js";
import type { ServeOptions, TryOptions } from "./flags.js";
import { openStore } from "./open-store.js";
import { start } from "./run.js";
import { createMessageWriter } from "./serve-messages.js";

/** Interval of polls in ms. It is short, because the service runs in this process. */
const POLL_MS = 100;

/** Sends a question to a service that exists only for this command. Needs no account or key, and stores nothing. */
export async function tryOut(ctx: Context, prompt: string | undefined, options: TryOptions): Promise<number> {
  checkResultOptions(options, ctx.reporter.json);
  const answers = await openAnswersFlag(ctx, options);
  const model = await openResearchModel(ctx, options);
  const body = await readRequestBody(ctx, prompt, options);
  const key = await readOrCreateOwnKey();
  const serveOptions: ServeOptions = {
    ...{ ...options, log: "off", host: "127.0.0.1", port: 0 },
    ...{ pending: 0, processing: 0, allowHost: [] },
  };
  const voice = createMessageWriter(ctx, serveOptions);
  const store = await openStore(ctx, { ...serveOptions, log: voice.log }, undefined);
  const service = await start(ctx, serveOptions, { store, apiKey: key.apiKey, model, voice, answers });
  try {
    // The user's settings must not make this command use another service or write to the history.
    const env = {
      RESEARCH_BASE_URL: service.baseUrl,
      RESEARCH_PROVIDER: "research",
      RESEARCH_API_KEY: key.apiKey,
      RESEARCH_NO_HISTORY: "1",
    };
    const { profile: _, baseUrl: __, ...flags } = ctx.flags;
    const context = ctx.createWith(env, flags);
    try {
      return await showRun(ctx, [{ account: context, body }], { interval: POLL_MS, ...options }, undefined);
    } finally {
      await context.close();
    }
  } finally {
    await service.close();
  }
}
