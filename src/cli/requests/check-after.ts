import { CHECK_LIMITS, type Checker, checkReport, openChecker } from "../../app/check.js";
import type { CheckModel } from "../../app/check-model.js";
import { describeFailure } from "../../app/failure.js";
import { keepCheck, readKeptCheck } from "../../app/kept-check.js";
import { type CheckNotice, readReport } from "../../app/report.js";
import type { Ports } from "../../client/workflows/ports.js";
import type { Target } from "../../client/workflows/requests.js";
import type { Result } from "../../client/workflows/results.js";
import { catchLocalError } from "../../core/files/local-error.js";
import type { CheckOutcome } from "../../core/protocol/check-outcome.js";
import type { Context } from "../context.js";
import type { Terminal } from "../terminal/reporter.js";
import { PLAIN } from "../terminal/style.js";
import { formatCheckCounts, formatForPeople } from "./check-text.js";
import { createModelListener, describeLimits } from "./model-listener.js";

/** The model that variables name for the checks after a command, with its limits said; undefined without a check or a model. */
export async function openModelForChecks(ctx: Context, isChecked = false): Promise<CheckModel | undefined> {
  if (!isChecked) return undefined;
  const { openCheckModel } = await import("../../app/check-model.js");
  const model = await openCheckModel(ctx, {}, "quick");
  if (model) await ctx.reporter.writeNotice("MODEL", describeLimits(model));
  return model;
}

/** The checks that a command makes of its results, after each was written. They share the pages that were read. */
export class ChecksAfter {
  #checker: Promise<Checker> | undefined;

  constructor(
    private readonly terminal: Terminal,
    private readonly model: CheckModel | undefined,
  ) {}

  /** Checks a result, keeps and says what was found; undefined if something hindered it. Rejects with `signal.reason` alone. */
  async check(
    ports: Ports,
    target: Target,
    result: Pick<Result, "data" | "value">,
  ): Promise<CheckOutcome | undefined> {
    const { model } = this;
    const { host, reporter, signal } = this.terminal;
    const { env, clock, version } = host;
    const { requestId } = target;
    try {
      this.#checker ??= openChecker({ env, clock, version });
      const named = { request_id: requestId, file: null };
      const notices: CheckNotice[] = [];
      const outcome = await checkReport(await this.#checker, readReport(result), named, {
        ...{ ...CHECK_LIMITS, signal, model },
        listener: model && { onEnd: createModelListener(reporter, model, requestId).onEnd },
        earlier: readKeptCheck(ports, requestId),
        onNotice: (notice) => notices.push(notice),
      }).finally(async () => {
        for (const { code, message } of notices)
          await reporter.writeNotice(code, `${requestId}: ${message}`, { request_id: requestId });
      });
      signal.throwIfAborted();
      const notKept = catchLocalError(() => keepCheck(ports, target, outcome));
      if (notKept) await this.#sayHindered(requestId, notKept);
      const wrong = formatForPeople(outcome, PLAIN);
      if (wrong !== "") await reporter.say(wrong.trimEnd());
      const { counts } = outcome;
      await reporter.writeNotice("CHECKED", `${requestId}: ${formatCheckCounts(outcome)}`, {
        request_id: requestId,
        counts,
      });
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

  async #sayHindered(requestId: string, error: unknown): Promise<void> {
    await this.terminal.reporter.writeNotice(
      "NOT_CHECKED",
      `${requestId}: ${describeFailure(error).message}`,
      {
        request_id: requestId,
      },
    );
  }
}
