import { parentPort } from "node:worker_threads";
import { cutDocument } from "./cut.js";
import type { DocumentTask } from "./document.js";

// The thread's entry.
parentPort?.on("message", async (task: DocumentTask) => parentPort?.postMessage(await cutDocument(task)));
