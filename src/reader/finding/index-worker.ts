import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { Corpus, type CorpusOptions } from "./corpus.js";
import { serveSearch } from "./folder-index.js";

// The thread's entry: reading and indexing keep a core busy, and the service has to go on answering.
const corpus = new Corpus(workerData as CorpusOptions, (line) => parentPort?.postMessage(line));
parentPort?.on("message", (port: MessagePort) => serveSearch(port, corpus));
