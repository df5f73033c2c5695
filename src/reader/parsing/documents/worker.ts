import { isMainThread } from "node:worker_threads";
import { answerQuestions, relayQuestions } from "../../../core/threads.js";

// The entry of the thread, and of the process in which the thread runs.
if (isMainThread) relayQuestions();
else answerQuestions((await import("./cut.js")).cutDocument);
