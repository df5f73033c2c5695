/** How much longer the longer input is. */
const TIMES = 16;
/** Growth from which a cost is not linear: 256 would be quadratic. Between the two, other work on the machine may add what it likes. */
const MOST = 64;
/** Tries, since a garbage collection may fall into any of them. */
const TRIES = 3;

/** The processor time that `work` takes, in ms. */
function costOf(work: () => unknown): number {
  const begun = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(begun);
  return (user + system) / 1_000;
}

/**
 * Whether `work` takes processor time in proportion to its input, which has `length` and 16 times as much. No time of a
 * clock is measured, and a quadratic cost grows 256 times, so that the answer does not depend on the machine.
 */
export function isLinear(work: (length: number) => unknown, length: number): boolean {
  work(length);
  const short = Math.max(1, ...Array.from({ length: TRIES }, () => costOf(() => work(length))));
  return Array.from({ length: TRIES }).some(() => costOf(() => work(TIMES * length)) < MOST * short);
}

/** The same for work that gives way in between. */
export async function isLinearInTurns(
  work: (length: number) => Promise<unknown>,
  length: number,
): Promise<boolean> {
  const costInTurns = async (size: number) => {
    const begun = process.cpuUsage();
    await work(size);
    const { user, system } = process.cpuUsage(begun);
    return (user + system) / 1_000;
  };
  await work(length);
  const short = Math.max(1, await costInTurns(length), await costInTurns(length));
  for (let nth = 0; nth < TRIES; nth++) if ((await costInTurns(TIMES * length)) < MOST * short) return true;
  return false;
}
