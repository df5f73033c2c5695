import { isMainThread } from "node:worker_threads";
import { answerQuestions, relayQuestions } from "../../../core/threads.js";

// Entry of the thread, and of the process in which it runs.
if (isMainThread) relayQuestions();
else answerQuestions((await import("./cut.js")).cutDocument);
