import { runThread } from "../thread-pool.js";
import { findFirstSchemaProblem } from "./validator.js";

// The entry point of the thread that compiles and checks schemas.
runThread(findFirstSchemaProblem);
