import { join } from "node:path";
import { afterAll } from "vitest";
import { undoLeftovers } from "../support/leftovers.js";

// Without the check of what went over the wire, which takes most of the time that a small test file takes.
afterAll(undoLeftovers);

// What runs once, as a module is loaded, no test can see broken. Loaded by the first test that needs it, it would count
// as seen by that one, and as unnoticed; loaded here it is static, which is left out (see stryker.json).
const root = join(import.meta.dirname, "../..");
await Promise.all(
  (process.env.MUTATION_LOADS ?? "").split(" ").map((file) => import(join(root, file)).catch(() => {})),
);
