/** A deeper schema could overflow a stack, and a larger one takes seconds to compile. */
const MAX_DEPTH = 100;
const MAX_NODES = 20_000;

/** Why `value` is too much for a schema; undefined if it is not. Stops counting at the limits. */
export function oversize(value: unknown): string | undefined {
  let nodes = 0;
  const visit = (node: unknown, depth: number): string | undefined => {
    if (typeof node !== "object" || node === null) return undefined;
    if (depth > MAX_DEPTH) return `it is nested more than ${MAX_DEPTH} levels deep`;
    for (const child of Object.values(node)) {
      nodes += 1;
      if (nodes > MAX_NODES) return `it has more than ${MAX_NODES} parts`;
      const found = visit(child, depth + 1);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return visit(value, 0);
}
