import { readKeptOutcome } from "../../../app/kept-check-outcome.js";
import { fetchResult, readKeptResult } from "../../../client/workflows/fetch-results.js";
import { findTarget } from "../../../client/workflows/find-and-query-requests.js";
import { parseEpochMs } from "../../../core/clock.js";
import { formatIsoDate } from "../../../core/text/time-format.js";
import { type Context, formatResumeCommand, listFlagArguments } from "../../command-context.js";
import { wrapOutputError } from "../../errors.js";
import { readSchema } from "../../input/read-request.js";
import { chooseRequestIds } from "../../requests/request-prompts.js";
import { getOutcomeExitCode, showFollow } from "../../requests/show-follow.js";
import {
  checkResultOptions,
  checkSchemaFit,
  listResultArguments,
  showResult,
  warnOfPartialResult,
} from "../../results/show-result.js";
import { endWithoutResult } from "../run/run.js";
import type { Given } from "../shared-flags.js";

type OutputFlags = Given<"result" | "partial" | "pace"> & {
  watch?: boolean;
  schema?: string;
  bibliography?: "csl" | "ris";
};

export async function runOutput(
  ctx: Context,
  given: string | undefined,
  options: OutputFlags,
): Promise<number> {
  const { bibliography: form } = options;
  checkResultOptions(options, ctx.reporter.json);
  const [id = ""] = await chooseRequestIds(
    ctx,
    given ? [given] : [],
    ({ request_id }) => request_id !== null,
  );
  const givenSchema = await readSchema(options.schema, ctx.host.stdin, ctx.signal);
  const { signal } = ctx;
  const target = findTarget(ctx, id);
  const { requestId, account } = target;
  const end = options.timeout ? account.clock.monotonic() + options.timeout : undefined;
  // The provider may have deleted a request whose result is kept here.
  if (options.watch && !readKeptResult(target)) {
    const { partial, schema } = options;
    const flags = [
      ...listResultArguments(options),
      ...listFlagArguments({ partial, bibliography: form, schema }),
    ];
    const resume = () => formatResumeCommand(ctx.flags, "output -w", [requestId], flags);
    const [outcome] = await showFollow(ctx, [target], { ...options, print: false, resume });
    const isPart = options.partial && outcome?.status === "FAILED";
    if (outcome && getOutcomeExitCode(outcome) !== 0 && !isPart)
      return endWithoutResult(target, outcome, { signal, end, created: false });
  }
  const schema = givenSchema ?? target.entry?.output_schema ?? undefined;
  const result = await fetchResult(target, { signal, end, partial: options.partial, schema });
  await warnOfPartialResult(ctx.reporter, result.data, requestId);
  const { prompt, created_at } = target.entry ?? {};
  const check = options.html || options.web ? readKeptOutcome(target) : undefined;
  const source = {
    requestId,
    origin: target.entry?.origin ?? account.origin,
    question: prompt,
    createdAt: created_at,
    check,
  };
  const accessedAt = parseEpochMs(result.data.completed_at ?? target.entry?.ended_at) ?? ctx.clock.now();
  // Only a bibliography needs the reader of citations, so load that only here.
  const { buildBibliography } = form ? await import("../../../app/bibliography.js") : {};
  const content = (form && buildBibliography?.(result, form, formatIsoDate(accessedAt))) || result;
  if (form && content.data.length === 0)
    await ctx.reporter.writeNotice("NO_SOURCES", `the result of ${requestId} has no sources`);
  await showResult(ctx, content, source, form ? { ...options, raw: true } : options).catch((error) => {
    throw wrapOutputError(error, requestId);
  });
  await checkSchemaFit(ctx, result, { requestId, schema }, options);
  return 0;
}
