import type { BatchJob, BatchRunOptions } from "../client/workflows/batch/context.js";
import { type BatchAccount, CreatePacer } from "../client/workflows/batch/create-pacer.js";
import { type KnownRow, reconcile } from "../client/workflows/batch/journal.js";
import { OutputFolder } from "../client/workflows/batch/output-folder.js";
import {
  listChangedRows,
  listOccupiedFiles,
  type PlanOptions,
  planRows,
  type RowState,
} from "../client/workflows/batch/plan.js";
import type { Row } from "../client/workflows/batch/row.js";
import type { Ports } from "../client/workflows/ports.js";
import { checkResult } from "../client/workflows/results.js";
import { LocalError } from "../core/files/local-error.js";
import { describeRowError } from "./failure.js";
import type { Machine } from "./machine.js";
import { describeMismatch, formatWithSources } from "./result-text.js";

export interface CreatePace {
  /** Creates per hour; Infinity for no limit, undefined for an unknown limit. */
  limit?: number | undefined;
}

/** Formats the errors and results of a batch, for every front end. */
export const ROW_FORMS: Pick<BatchRunOptions, "describe" | "format" | "check"> = {
  describe: describeRowError,
  format: formatWithSources,
  async check(result, { row }, signal) {
    const schema = row.body.output_schema;
    if (!schema) return undefined;
    const problem = await checkResult(result, schema, { signal });
    return problem && describeMismatch(result, problem);
  },
};

/** Opens the folder of a batch, which the caller closes, and plans each row. Rejects with CodedError before it makes a folder, and with LocalError. */
export async function openBatch(
  machine: Machine,
  rows: readonly Row[],
  {
    out,
    isListed,
    ...options
  }: PlanOptions & CreatePace & { out: string; isListed?: boolean; retryRefused?: boolean },
): Promise<BatchJob> {
  const named = openNamedAccounts(machine, rows);
  const findRowAccount = ({ profile }: Row) => named.get(profile ?? "") ?? machine;
  for (const at of new Set(rows.length > 0 ? rows.map(findRowAccount) : [machine])) void at.apiKey;
  const folder = await OutputFolder.open(out, isListed);
  try {
    const knownRows = reconcile(folder.known, machine.history);
    const [changed] = listChangedRows(rows, knownRows);
    if (changed)
      throw new LocalError(`the request of the key ${JSON.stringify(changed.key)} has changed in ${out}`);
    const accounts = new Map<Machine, BatchAccount>();
    const openBatchAccount = (at: Machine): BatchAccount => {
      const limit = at === machine ? options.limit : at.getHourlyLimit({});
      const createPacer = () => createPacerOf(at.clock, at, knownRows, { ...options, limit });
      const account = accounts.get(at) ?? { ports: at, pacer: createPacer() };
      accounts.set(at, account);
      return account;
    };
    const findAccount = (row: Row) => openBatchAccount(findRowAccount(row));
    const states = planRows(rows, knownRows, options, (name) => folder.has(name), findAccount);
    for (const state of states)
      if (state.standing === "running") state.account = findCreator(machine, state, openBatchAccount);
    checkOccupied(out, listOccupiedFiles(states, folder.foreign));
    if (accounts.size === 0) openBatchAccount(machine);
    return { states, folder, accounts: [...accounts.values()] };
  } catch (error) {
    folder.close();
    throw error;
  }
}

/** Returns the accounts that the rows name, by profile. Throws as `Machine.openNamed`. */
export function openNamedAccounts(
  machine: Machine,
  rows: readonly Pick<Row, "profile">[],
): Map<string, Machine> {
  const names = [...new Set(rows.flatMap(({ profile }) => profile ?? []))];
  const accounts = names.length > 0 ? machine.openNamed(names, "a row's profile") : [];
  return new Map(accounts.map((account, index) => [names[index] ?? "", account]));
}

/** Finds the account that created a row, by the journal and not by the row's profile today; undefined if that account is no longer set up. */
function findCreator(
  machine: Machine,
  { account, origin, profile = null }: RowState,
  accountAt: (at: Machine) => BatchAccount,
): BatchAccount | undefined {
  if (account && account.ports.origin === origin && account.ports.profile === profile) return account;
  const at = profile === null ? undefined : machine.findAccountNamed(profile);
  if (at && at.origin === origin) return accountAt(at);
  // A row without a profile stays with its account: if that answers 404, the error names the origin that created it.
  return profile === null || account?.ports.origin === origin ? account : undefined;
}

/** Paces the creates of a batch by its own rows and, with `ports`, by all creates that this machine sent. */
export function createPacerOf(
  clock: Ports["clock"],
  ports: Pick<Ports, "history" | "origin" | "apiKey" | "provider" | "profile"> | undefined,
  knownRows: ReadonlyMap<string, KnownRow>,
  { limit }: CreatePace,
): CreatePacer {
  const isOwn = ({ origin, profile }: KnownRow) =>
    !ports || (origin === ports.origin && profile === ports.profile);
  const sent = [...knownRows.values()].filter((row) => row.stage !== "free" && isOwn(row));
  return new CreatePacer({
    ...{ clock, limit },
    attempts: () => ports?.history?.countHour(ports, 1).attempts,
    own: sent.map(({ sentAt }) => Date.parse(sentAt)),
    isHourly: !ports?.provider,
    guessesWaits: ports?.provider?.guessesWaits,
  });
}

/** Throws LocalError if results would overwrite files that this batch did not write. */
function checkOccupied(out: string, [first, ...others]: readonly { file: string; row: Row }[]): void {
  if (first === undefined) return;
  const file = `${first.file} (for ${nameRow(first.row)})`;
  const more = others.length > 0 ? `, and ${others.length} more` : "";
  throw new LocalError(`${out} contains ${file}${more}, which this batch did not write; use another folder`);
}

export function nameRow({ key, line }: Pick<Row, "key" | "line">): string {
  return key ?? `line ${line}`;
}
