import type { Account } from "../client/workflows/account.js";
import type { BatchJob, BatchRunOptions } from "../client/workflows/batch/batch-context.js";
import { BatchFolder } from "../client/workflows/batch/batch-folder.js";
import { type KnownRow, mergeHistoryOutcomes } from "../client/workflows/batch/batch-journal.js";
import type { BatchRow } from "../client/workflows/batch/batch-row.js";
import { type BatchLane, CreatePacer } from "../client/workflows/batch/create-pacer.js";
import {
  listChangedRows,
  listOccupiedFiles,
  type PlanOptions,
  planRows,
  type RowState,
} from "../client/workflows/batch/plan-rows.js";
import { checkResultSchema } from "../client/workflows/fetch-results.js";
import { LocalError } from "../core/files/local-error.js";
import { describeRowError } from "./describe-failure.js";
import { describeSchemaMismatch, formatWithSources } from "./format-result.js";
import type { ProfileAccount } from "./profile-account.js";

/** How every front end formats the errors and results of a batch. */
export const ROW_FORMS: Pick<BatchRunOptions, "describe" | "format" | "check"> = {
  describe: describeRowError,
  format: formatWithSources,
  async check(result, { row }, signal) {
    const schema = row.body.output_schema;
    if (!schema) return undefined;
    const problem = await checkResultSchema(result, schema, { signal });
    return problem && describeSchemaMismatch(result, problem);
  },
};

/** Opens the folder of a batch, and plans each row. The caller closes the folder. Rejects with CodedError before it creates one, or with LocalError. */
export async function openBatch(
  account: ProfileAccount,
  rows: readonly BatchRow[],
  options: PlanOptions & { out: string; limit?: number | undefined; isListed?: boolean },
): Promise<BatchJob> {
  const { out } = options;
  const named = openNamedAccounts(account, rows);
  const findRowAccount = ({ profile }: BatchRow) => named.get(profile ?? "") ?? account;
  for (const { apiKey } of new Set(rows.length > 0 ? rows.map(findRowAccount) : [account])) void apiKey;
  const folder = await BatchFolder.open(out, options.isListed);
  try {
    const knownRows = mergeHistoryOutcomes(folder.known, account.history);
    const [changed] = listChangedRows(rows, knownRows);
    if (changed)
      throw new LocalError(
        `the request with the key ${JSON.stringify(changed.key)} differs from the one in ${out}; use another key or another folder`,
      );
    const lanes = new Map<ProfileAccount, BatchLane>();
    const openLane = (owner: ProfileAccount): BatchLane => {
      const limit = owner === account ? options.limit : owner.getHourlyLimit({});
      const createPacer = () => createBatchPacer(owner.clock, owner, knownRows, limit);
      const lane = lanes.get(owner) ?? { account: owner, pacer: createPacer() };
      lanes.set(owner, lane);
      return lane;
    };
    const findLane = (row: BatchRow) => openLane(findRowAccount(row));
    const states = planRows(rows, knownRows, options, (name) => folder.has(name), findLane);
    for (const state of states)
      if (state.standing === "running") state.lane = findAccountOfRow(account, state, openLane);
    refuseForeignResults(out, listOccupiedFiles(states, folder.foreign));
    if (lanes.size === 0) openLane(account);
    return { states, folder, lanes: [...lanes.values()] };
  } catch (error) {
    folder.close();
    throw error;
  }
}

/** Opens the accounts whose profiles the rows name; the result has them by profile. Throws as `openNamed` does. */
export function openNamedAccounts(
  account: ProfileAccount,
  rows: readonly Pick<BatchRow, "profile">[],
): Map<string, ProfileAccount> {
  const names = [...new Set(rows.flatMap(({ profile }) => profile ?? []))];
  const accounts = names.length > 0 ? account.openNamed(names, "a row's profile") : [];
  return new Map(accounts.map((named, index) => [names[index] ?? "", named]));
}

/** Finds the account that created a row, from the journal, because the row may now name another profile. Undefined if it is no longer set up. */
function findAccountOfRow(
  account: ProfileAccount,
  { lane, origin, profile = null }: RowState,
  openLane: (owner: ProfileAccount) => BatchLane,
): BatchLane | undefined {
  if (lane && lane.account.origin === origin && lane.account.profile === profile) return lane;
  const owner = profile === null ? undefined : account.findAccountNamed(profile);
  if (owner && owner.origin === origin) return openLane(owner);
  // A row without a profile stays with its account. If that answers 404, the error says which origin created the row.
  return profile === null || lane?.account.origin === origin ? lane : undefined;
}

/** Creates the pacer of a batch from its own rows and, with an account, from all create calls of this machine. `limit`: per hour; undefined if unknown. */
export function createBatchPacer(
  clock: Account["clock"],
  account: Account | undefined,
  knownRows: ReadonlyMap<string, KnownRow>,
  limit: number | undefined,
): CreatePacer {
  const isOwn = ({ origin, profile }: KnownRow) =>
    !account || (origin === account.origin && profile === account.profile);
  const sent = [...knownRows.values()].filter((row) => row.stage !== "free" && isOwn(row));
  return new CreatePacer({
    ...{ clock, limit },
    attempts: () => account?.history?.countHour(account, 1).attempts,
    own: sent.map(({ sentAt }) => Date.parse(sentAt)),
    provider: account?.provider,
  });
}

/** Throws LocalError if the results would overwrite files that this batch did not write. */
function refuseForeignResults(
  out: string,
  [first, ...others]: readonly { file: string; row: BatchRow }[],
): void {
  if (first === undefined) return;
  const file = `${first.file} (for ${describeRow(first.row)})`;
  const more = others.length > 0 ? `, and ${others.length} more` : "";
  throw new LocalError(`${out} contains ${file}${more}, which this batch did not write; use another folder`);
}

export function describeRow({ key, line }: Pick<BatchRow, "key" | "line">): string {
  return key ?? `line ${line}`;
}
