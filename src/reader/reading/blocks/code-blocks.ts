import { type Block, MAX_LINE, MAX_LINES } from "./block.js";

const COMMENT =
  /^\s*(?:\/\/|\/\*|\*|#(?!\s*(?:include|define|if|ifdef|ifndef|else|endif|pragma)\b)|--\s|;|"""|<!--)/;
/** A long comment must not lose the declaration that it is about. */
const MAX_COMMENT_LINES = 2 * MAX_LINES;

/** Whether a line of code is part of a comment, as far as the line alone tells. */
export function isComment(line: string): boolean {
  return COMMENT.test(line);
}

/** The blocks of a file of code: each begins at a blank line or at a comment, which stays with what it is about. */
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
