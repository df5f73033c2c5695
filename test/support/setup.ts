import fc from "fast-check";
import { afterAll, afterEach, expect } from "vitest";
import { breaches, forgetPorts } from "./exchanges.js";
import { undoLeftovers } from "./leftovers.js";

// What fails once fails again.
fc.configureGlobal({ seed: 1 });

// Whatever a test is about, what went over the wire in it has to be what openapi.yaml describes.
afterEach(() => {
  expect(breaches.splice(0)).toEqual([]);
});

// vitest kills its workers without an "exit" event, so each test file cleans up after itself.
afterAll(undoLeftovers);
afterAll(forgetPorts);
