import { errorText } from "../../../text/phrases.js";
import { answerQuestions } from "../../../threads.js";
import { ResearchFailure } from "../researcher.js";
import type { FolderSearch } from "../sources/corpus.js";
import { searchThrough } from "../sources/folder-index.js";
import { extract } from "../structured/extract.js";
import type { Reply, Request } from "./extractive-researcher.js";
import { find } from "./find.js";
import { report, structured } from "./report.js";

// The thread's entry: ranking and validating keep a core busy, a schema's pattern can keep it for ever, and the
// service has to go on answering.
answerQuestions(async ({ job, index }: Request) => {
  const reply = await answer(job, searchThrough(index)).catch((error: unknown): Reply => {
    const isReason = error instanceof ResearchFailure;
    return { failure: isReason ? error.message : `The sources could not be read: ${errorText(error)}` };
  });
  index.close();
  return reply;
});

async function answer(job: Request["job"], search: FolderSearch): Promise<Reply> {
  if (job.output_schema !== undefined) return extract(search, job.prompt, job.output_schema);
  const findings = await find(search, job.prompt);
  return { output: job.structured_output ? structured(findings) : report(job.prompt, findings) };
}
