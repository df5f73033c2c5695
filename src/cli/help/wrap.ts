/** The widest line of help, in columns: what an 80-column terminal shows. */
const WIDTH = 80;

/** Text in lines of at most 80 columns, each after the first `indent` columns in. No word is cut. */
export function wrap(text: string, indent: number): string {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && indent + line.length + 1 + word.length > WIDTH) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line].join(`\n${" ".repeat(indent)}`);
}

/** Terms, each with its explanation beside it. */
export function definitions(rows: readonly (readonly [term: string, explanation: string])[]): string {
  const width = Math.max(...rows.map(([term]) => term.length));
  return rows
    .map(([term, explanation]) => `  ${term.padEnd(width)}  ${wrap(explanation, width + 4)}\n`)
    .join("");
}
