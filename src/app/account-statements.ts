import type { Report } from "../reader/checking/report-checker.js";

/** A statement, worded as in the report of the first account that makes it, with the passages of accounts that have other figures. */
export interface AccountStatement {
  claim: string;
  said_by: string[];
  otherwise: { profile: string; passage: string }[];
}

/** Finds the statements of the reports of several accounts (contract §12). Leaves out a statement if it is unclear whether another report makes it, too. */
export async function collectAccountStatements(
  reports: readonly { profile: string; report: Report }[],
): Promise<AccountStatement[]> {
  const { compareReports, prepareForComparison } = await import("../reader/comparing/compare-reports.js");
  const read = reports.map(({ report }) => prepareForComparison(report));
  const seen = reports.map(
    () => new Map<number, { claim: AccountStatement; isKnown: boolean; isOpen: boolean }>(),
  );
  for (const [i, current] of read.entries())
    for (const [j, other] of read.entries()) {
      if (j <= i || current.isText !== other.isText) continue;
      const both = compareReports(current, other);
      for (const [own, from, to] of [
        [both[0], i, j],
        [both[1], j, i],
      ] as const)
        for (const [at, { text, kind, other: passage }] of own.entries()) {
          if (kind === "none") continue;
          const profile = reports[to]?.profile ?? "";
          const entry = seen[from]?.get(at) ?? {
            claim: { claim: text, said_by: [reports[from]?.profile ?? ""], otherwise: [] },
            ...{ isKnown: false, isOpen: false },
          };
          seen[from]?.set(at, entry);
          if (to < from && (kind === "same" || kind === "changed")) entry.isKnown = true;
          else if (kind === "same") entry.claim.said_by.push(profile);
          else if (kind === "changed") entry.claim.otherwise.push({ profile, passage: passage ?? "" });
          else entry.isOpen ||= kind === "open";
        }
    }
  return seen.flatMap((all) =>
    [...all.values()].flatMap(({ claim, isKnown, isOpen }) =>
      isKnown || (isOpen && claim.said_by.length + claim.otherwise.length === 1) ? [] : claim,
    ),
  );
}
