import { answerQuestions } from "../../../threads.js";
import { cutDocument } from "./cut.js";

// The thread's entry.
answerQuestions(cutDocument);
