/** The words as they were typed, and how much of the last one the shell leaves as it is, in characters. */
export interface Joined {
  whole: string[];
  typedBefore: number;
}

/**
 * Undoes what bash does to a command line: since version 4 it ends a word at each character of `COMP_WORDBREAKS`, so
 * that `--tier=free` is three words and `@last` two; in every version it replaces only what follows the last `=` or `:`.
 * `breaks` is empty for the other shells, which do neither. Pure.
 */
export function joinWords(words: readonly string[], breaks: string): Joined {
  const joining = [..."=@:"].filter((char) => breaks.includes(char));
  const isBreak = (word: string) => word !== "" && [...word].every((char) => joining.includes(char));
  const whole: string[] = [];
  let isOpen = false;
  for (const word of words) {
    const before = whole.at(-1);
    // An at sign begins a word; the others stand within one.
    const continues = isOpen || (isBreak(word) && !word.startsWith("@"));
    if (before !== undefined && continues) whole[whole.length - 1] = before + word;
    else whole.push(word);
    isOpen = isBreak(word);
  }
  const last = whole.at(-1) ?? "";
  // An at sign is what readline calls a special prefix: it stays a part of the word.
  const ends = joining.filter((char) => char !== "@").map((char) => last.lastIndexOf(char));
  return { whole, typedBefore: Math.max(...ends, -1) + 1 };
}
