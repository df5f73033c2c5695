import { parentPort } from "node:worker_threads";
import { READY, type SchemaQuestion } from "./messages.js";
import { answer } from "./validator.js";

/** The thread that schemas are compiled and checked in. */
const port = parentPort;
port?.on("message", (question: SchemaQuestion) => port.postMessage(answer(question)));
port?.postMessage(READY);
