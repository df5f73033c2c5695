import { expect, test } from "vitest";
import { partsOf } from "../../support/held-sentences.js";
import { judgeSet } from "../../support/judged-set.js";
import { says } from "../../support/model-endpoint.js";
import { REPLIES, REPORT } from "./set/replies.js";

test("of replies by hand, from the passages in view alone, all that is proven counts, and nothing else", async () => {
  const unknown: string[] = [];
  const { answers, failures, unproven, endpoint, end } = await judgeSet(
    (request) =>
      says({
        held: partsOf(request).sentences.map(({ sentence, text }) => {
          const [verdict, quote] = REPLIES[text] ?? [];
          if (verdict === undefined) unknown.push(`${text}\n${request.input}`);
          return { sentence, verdict, quote };
        }),
      }),
    {},
    REPORT,
  );
  expect(unknown).toEqual([]);
  expect({ failures, unproven, end, requests: endpoint.requests.length }).toEqual({
    ...{ failures: 0, unproven: 2, end: undefined, requests: 2 },
  });
  expect(REPORT.map(({ text }, i) => [text, answers[i]?.support])).toEqual(
    REPORT.map(({ text, support }) => [text, support]),
  );
  for (const [i, answer] of answers.entries())
    if (answer?.quote) expect(answer.quote).toBe(REPLIES[REPORT[i]?.text ?? ""]?.[1]);
});
