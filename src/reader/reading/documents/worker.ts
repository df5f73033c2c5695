import { isMainThread } from "node:worker_threads";
import { answerQuestions, relayQuestions } from "../../../core/threads.js";

// The entry of the thread, and of the process that it runs in.
if (isMainThread) relayQuestions();
else answerQuestions((await import("./cut.js")).cutDocument);
