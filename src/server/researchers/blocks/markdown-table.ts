/** The cells of a Markdown row as GitHub reads it: a bar splits wherever it stands, unless a backslash is before it. */
export function cellsOf(line: string): string[] {
  const inner = line
    .trim()
    .replace(/^\|/, "")
    .replace(/(?<!\\)\|$/, "");
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim());
}

/** Whether a line is the one between a table's head and its rows. */
export function isTableRule(line: string): boolean {
  const cells = line.trim().length <= 2_000 && line.includes("-") ? cellsOf(line) : [];
  return cells.length > 0 && cells.every((cell) => /^:?-+:?$/.test(cell));
}
