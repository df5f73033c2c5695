import { join } from "node:path";
import { readKeptOutcome } from "../../../app/kept-check-outcome.js";
import { readSmallFile } from "../../../app/read-text.js";
import type { Account } from "../../../client/workflows/account.js";
import type { BatchJob } from "../../../client/workflows/batch/batch-context.js";
import type { BatchLane } from "../../../client/workflows/batch/create-pacer.js";
import type { RowState } from "../../../client/workflows/batch/plan-rows.js";
import { buildRequestTarget } from "../../../client/workflows/batch/result-collector.js";
import { extractResult, type Result, readKeptResult } from "../../../client/workflows/fetch-results.js";
import type { Target } from "../../../client/workflows/find-and-query-requests.js";
import { JsonText, tryParseExact } from "../../../core/json/exact-json.js";
import type { ResultOrigin } from "../../../core/markdown/html/result-page.js";
import { buildResultPage } from "../../results/open-result-page.js";

/** Maximum size of a result that gets a page, in bytes. */
const MAX_RESULT_BYTES = 64 << 20;

/** Returns the account that created a row, or the batch's first account if that account is no longer set up. */
export function findRowAccount({ lanes }: Pick<BatchJob, "lanes">, { lane }: RowState): Account {
  return (lane ?? (lanes[0] as BatchLane)).account;
}

/** Reads the result of a finished row: the kept one, or else the row's file. Throws LocalError or UsageError. */
export function readRowResult(
  job: Pick<BatchJob, "lanes" | "folder">,
  state: RowState,
): { target: Target; result: Result } {
  const account = findRowAccount(job, state);
  const target = buildRequestTarget(state, account);
  const kept = readKeptResult(target);
  if (kept) return { target, result: extractResult(kept, account.outputField, state.row.body.output_schema) };
  const { file = "" } = state;
  const text = readSmallFile(join(job.folder.path, file), "the result", MAX_RESULT_BYTES);
  const isJson = file.endsWith(".json");
  const value = isJson ? tryParseExact(text) : text;
  return { target, result: { data: {}, value, exact: isJson ? new JsonText(text) : {} } };
}

export function buildRowOrigin(state: RowState): ResultOrigin {
  const { row, requestId, createdAt, endedAt, standing, lane } = state;
  return {
    ...{ question: row.body.prompt, requestId, origin: state.origin ?? lane?.account.origin },
    createdAt: createdAt ?? undefined,
    completedAt: standing === "done" ? endedAt : undefined,
  };
}

/** Builds the page of a finished row, with the marks of its check, if any. Rejects with LocalError. */
export async function buildRowResultPage(
  job: Pick<BatchJob, "lanes" | "folder">,
  state: RowState,
): Promise<string> {
  const { target, result } = readRowResult(job, state);
  return buildResultPage(result, { ...buildRowOrigin(state), check: readKeptOutcome(target) });
}
