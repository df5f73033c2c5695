import { parentPort, workerData } from "node:worker_threads";
import { extract } from "./extract.js";
import { Library } from "./library.js";
import type { Reply, Request, ThreadData } from "./protocol.js";
import { find, report, structured } from "./report.js";

// The thread's entry: reading, ranking and validating keep a core busy, and the service has to go on answering.
const { root } = workerData as ThreadData;
const library = new Library(root);
let noticed: string | undefined;

parentPort?.on("message", (request: Request) => {
  answer(request).then(send, (error) => {
    send({
      kind: "failure",
      reason: `The sources could not be read: ${error instanceof Error ? error.message : error}`,
    });
  });
});

async function answer({ prompt, structured_output, output_schema }: Request): Promise<Reply> {
  await library.refresh();
  if (library.stopped !== noticed && library.stopped !== undefined) {
    send({ kind: "notice", line: `reading the sources ${library.stopped}; the rest is not searched` });
  }
  noticed = library.stopped;
  if (output_schema !== undefined) return extract(library, prompt, output_schema);
  const findings = find(library, prompt);
  return { kind: "output", output: structured_output ? structured(findings) : report(prompt, findings) };
}

function send(reply: Reply): void {
  parentPort?.postMessage(reply);
}
