import { describeError } from "../../core/text/format-text.js";
import { runThread } from "../../core/thread-pool.js";
import { Corpus } from "./folder-corpus.js";
import type { IndexAnswer, IndexQuestion } from "./folder-index.js";
import type { Source } from "./source.js";

// The entry of the index thread. Indexing keeps a core busy, and the service must still answer meanwhile.
let corpus: Corpus | undefined;
const notices: string[] = [];
runThread<IndexQuestion>(async ({ options, method, args }): Promise<IndexAnswer> => {
  corpus ??= new Corpus(options, (line) => notices.push(line));
  const answer = await Reflect.apply<Source, never, Promise<unknown>>(corpus[method], corpus, args).then(
    (value) => ({ value }),
    (error: unknown) => ({ error: describeError(error) }),
  );
  return { ...answer, notices: notices.splice(0) };
});
