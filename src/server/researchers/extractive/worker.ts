import { parentPort } from "node:worker_threads";
import { errorText } from "../../../text/phrases.js";
import { RemoteSearch } from "../sources/remote-search.js";
import { extract } from "../structured/extract.js";
import { find } from "./find.js";
import type { Reply, Request } from "./messages.js";
import { report, structured } from "./report.js";

// The thread's entry: ranking and validating keep a core busy, a schema's pattern can keep it for ever, and the
// service has to go on answering.
parentPort?.on("message", async (request: Request) => {
  const search = new RemoteSearch(request.index);
  const reply = await answer(request, search).catch((error: unknown): Reply => {
    const reason = errorText(error);
    return { kind: "failure", reason: `The sources could not be read: ${reason}` };
  });
  search.close();
  parentPort?.postMessage(reply);
});

async function answer({ job }: Request, search: RemoteSearch): Promise<Reply> {
  if (job.output_schema !== undefined) return extract(search, job.prompt, job.output_schema);
  const findings = await find(search, job.prompt);
  const output = job.structured_output ? structured(findings) : report(job.prompt, findings);
  return { kind: "output", output };
}
