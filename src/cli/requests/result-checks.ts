import { CHECK_LIMITS, type Checker, checkReport, openChecker } from "../../app/check-report.js";
import type { CitationJudge } from "../../app/citation-judge.js";
import { describeFailure } from "../../app/describe-failure.js";
import { keepCheckOutcome } from "../../app/kept-check-outcome.js";
import { type CheckNotice, convertToReport } from "../../app/parse-report.js";
import type { Result } from "../../client/workflows/fetch-results.js";
import type { Target } from "../../client/workflows/find-and-query-requests.js";
import { catchLocalError } from "../../core/files/local-error.js";
import type { CheckOutcome } from "../../core/protocol/check-outcome.js";
import type { Context } from "../command-context.js";
import type { Terminal } from "../terminal/reporter.js";
import { PLAIN } from "../terminal/style.js";
import { formatCheckCounts, formatCheckForPeople } from "./format-check.js";
import { createModelListener, describeLimits, writeNoticeAbout } from "./model-listener.js";

/** Opens the model of the environment for the checks after a command, and prints its limits. Undefined without a check or a model. */
export async function openModelForChecks(
  ctx: Context,
  isChecked = false,
): Promise<CitationJudge | undefined> {
  if (!isChecked) return undefined;
  const { openCitationJudge } = await import("../../app/citation-judge.js");
  const model = await openCitationJudge(ctx, {}, "quick");
  if (model) await ctx.reporter.writeNotice("MODEL", describeLimits(model));
  return model;
}

/** Checks the results of a command, each after it was written. All checks share the pages that have been read. */
export class ResultChecks {
  #checker: Promise<Checker> | undefined;
  /** The outcomes with answers of the model. */
  readonly #judged: { target: Target; outcome: CheckOutcome; onChange: () => void }[] = [];

  constructor(
    private readonly terminal: Terminal,
    private readonly model: CitationJudge | undefined,
  ) {}

  /**
   * Checks a result, keeps the outcome and prints it; undefined if the check failed. Calls `onChange` if the model
   * later proves unreliable, so that the outcome's counts change. Rejects only with `signal.reason`.
   */
  async check(
    target: Target,
    result: Pick<Result, "data" | "value">,
    onChange = () => {},
  ): Promise<CheckOutcome | undefined> {
    const { model } = this;
    const { host, reporter, signal } = this.terminal;
    const { env, clock, version } = host;
    const { requestId } = target;
    try {
      this.#checker ??= openChecker({ env, clock, version });
      const notices: CheckNotice[] = [];
      const outcome = await checkReport(
        await this.#checker,
        { report: convertToReport(result), target },
        {
          ...{ ...CHECK_LIMITS, signal, model },
          listener: model && { onEnd: createModelListener(reporter, model, requestId).onEnd },
          notices,
        },
      ).finally(async () => {
        for (const { code, message } of notices) await writeNoticeAbout(reporter, requestId, code, message);
      });
      if (model?.isDropped) {
        model.removeAnswers(outcome);
        await this.#removeAnswers(model);
      } else if (model) this.#judged.push({ target, outcome, onChange });
      signal.throwIfAborted();
      const notKept = catchLocalError(() => keepCheckOutcome(target, outcome));
      if (notKept) await this.#sayHindered(requestId, notKept);
      const wrong = formatCheckForPeople(outcome, PLAIN);
      if (wrong !== "") await reporter.say(wrong.trimEnd());
      await this.#sayCounts(requestId, outcome);
      return outcome;
    } catch (error) {
      signal.throwIfAborted();
      await this.#sayHindered(requestId, error);
      return undefined;
    }
  }

  async close(): Promise<void> {
    (await this.#checker)?.close();
    await this.model?.close();
  }

  /** Removes the model's answers from all outcomes of this command, and keeps and prints the outcomes again. */
  async #removeAnswers(model: CitationJudge): Promise<void> {
    for (const { target, outcome, onChange } of this.#judged.splice(0)) {
      model.removeAnswers(outcome);
      const notKept = catchLocalError(() => {
        onChange();
        keepCheckOutcome(target, outcome);
      });
      if (notKept) await this.#sayHindered(target.requestId, notKept);
      await this.#sayCounts(target.requestId, outcome);
    }
  }

  async #sayCounts(requestId: string, outcome: CheckOutcome): Promise<void> {
    const { reporter } = this.terminal;
    const { counts } = outcome;
    await writeNoticeAbout(reporter, requestId, "CHECKED", formatCheckCounts(outcome), { counts });
  }

  async #sayHindered(requestId: string, error: unknown): Promise<void> {
    const { reporter } = this.terminal;
    await writeNoticeAbout(reporter, requestId, "NOT_CHECKED", describeFailure(error).message);
  }
}
