/** What each file imports of the other files, types included; paths from the root of the repository. */
export type ImportGraph = ReadonlyMap<string, readonly string[]>;

/** Import cycles, each once, as `a.ts -> b.ts -> a.ts`. A file that two cycles share may hide the second one. */
export function importCycles(graph: ImportGraph): string[] {
  const done = new Set<string>();
  const path: string[] = [];
  const cycles: string[] = [];
  const visit = (file: string) => {
    const start = path.indexOf(file);
    if (start >= 0) cycles.push([...path.slice(start), file].join(" -> "));
    if (start >= 0 || done.has(file)) return;
    path.push(file);
    for (const imported of graph.get(file) ?? []) visit(imported);
    path.pop();
    done.add(file);
  };
  for (const file of graph.keys()) visit(file);
  return cycles;
}
