import { afterAll } from "vitest";
import { undoLeftovers } from "./leftovers.js";

// vitest kills its workers without an "exit" event, so each test file cleans up after itself.
afterAll(undoLeftovers);
