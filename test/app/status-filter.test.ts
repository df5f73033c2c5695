import { expect, test } from "vitest";
import { checkStatusFilter } from "../../src/app/status-filter.js";
import { History } from "../../src/client/store/history/history.js";
import { folderWith } from "../support/folder.js";

test("a state is one of the service's, a provider's, or one that the history has, in capitals or not", async () => {
  const history = new History(folderWith(), () => Date.now());
  const attempt = { origin: "https://a.example", profile: null, apiKey: "k", body: { prompt: "x" } };
  for (const status of ["odd", "COMPLETED"]) history.begin(attempt).recordCreated(status, { status });
  for (const status of [undefined, "COMPLETED", "completed", "unknown", "Queued", "odd"])
    expect(await checkStatusFilter(status, history)).toBeUndefined();
  await expect(checkStatusFilter("none", history)).rejects.toMatchObject({
    message: 'unknown state "none"',
    facts: {
      hint: expect.stringMatching(
        /^The states are: PENDING, PROCESSING, COMPLETED, FAILED, STOPPED, UNKNOWN, odd, queued, in_progress, (?!.*(?:completed|odd))/,
      ),
    },
  });
  await expect(checkStatusFilter("odd", undefined)).rejects.toThrow('unknown state "odd"');
});
