import { answerQuestions } from "../threads.js";
import { answer } from "./validator.js";

// The thread that schemas are compiled and checked in.
answerQuestions(answer);
