import { afterAll } from "vitest";
import { undoLeftovers } from "../support/leftovers.js";

// Without the check of what went over the wire, which takes most of the time that a small test file takes.
afterAll(undoLeftovers);
