import { parentPort, workerData } from "node:worker_threads";
import { Corpus } from "../sources/corpus.js";
import { extract } from "../structured/extract.js";
import type { Reply, Request, ThreadData } from "./messages.js";
import { find, report, structured } from "./report.js";

// The thread's entry: reading, ranking and validating keep a core busy, and the service has to go on answering.
const { root } = workerData as ThreadData;
const corpus = new Corpus(root);
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
  await corpus.refresh();
  if (corpus.stopped !== noticed && corpus.stopped !== undefined) {
    send({ kind: "notice", line: `reading the sources ${corpus.stopped}; the rest is not searched` });
  }
  noticed = corpus.stopped;
  if (output_schema !== undefined) return extract(corpus, prompt, output_schema);
  const findings = find(corpus, prompt);
  return { kind: "output", output: structured_output ? structured(findings) : report(prompt, findings) };
}

function send(reply: Reply): void {
  parentPort?.postMessage(reply);
}
