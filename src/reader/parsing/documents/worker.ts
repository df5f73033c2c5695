import { isMainThread } from "node:worker_threads";
import { runRelayProcess, runThread } from "../../../core/thread-pool.js";

// The entry of the thread, and of the process in which the thread runs.
if (isMainThread) runRelayProcess();
else runThread((await import("./split-document.js")).splitDocument);
