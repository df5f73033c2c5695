import { type Block, MAX_LINE, MAX_LINES } from "./block.js";

const COMMENT =
  /^\s*(?:\/\/|\/\*|\*|#(?!\s*(?:include|define|if|ifdef|ifndef|else|endif|pragma)\b)|--\s|;|"""|<!--)/;
/** The most lines of a block with a long comment, so that the comment stays together with its declaration. */
const MAX_COMMENT_LINES = 2 * MAX_LINES;

/** Returns whether a line of code looks like part of a comment, as far as that line alone can tell. */
export function isComment(line: string): boolean {
  return COMMENT.test(line);
}

/** Splits a file of code into blocks at blank lines and before comments. A comment and the code below it stay together. */
export function readCodeBlocks(text: string): Block[] {
  const blocks: Block[] = [];
  let block: Block | undefined;
  let codeLines = 0;
  let wasComment = false;
  text.split(/\r\n|\n|\r/).forEach((line, index) => {
    if (line.trim() === "" || line.length > MAX_LINE) {
      block = undefined;
      return;
    }
    const comment = isComment(line);
    const begins = comment && !wasComment;
    const isFull = codeLines >= MAX_LINES || (block?.lines.length ?? 0) >= MAX_COMMENT_LINES;
    if (block === undefined || begins || isFull) {
      block = { line: index + 1, lines: [], heading: "", kind: "code" };
      codeLines = 0;
      blocks.push(block);
    }
    block.lines.push(line);
    if (!comment) codeLines += 1;
    wasComment = comment;
  });
  return blocks;
}
