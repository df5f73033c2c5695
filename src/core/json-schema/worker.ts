import { answerQuestions } from "../threads.js";
import { answer } from "./validator.js";

// The entry point of the thread that compiles and checks schemas.
answerQuestions(answer);
