import { expect, test } from "vitest";
import { REFUSED_URL } from "../../../support/fault-server.js";
import { homeWith } from "../../../support/home.js";

const SENTENCES = [
  "One fact holds 14 people here.",
  "Another fact holds 25 people there.",
  "A third fact holds 36 people.",
  "A last one holds 47 people.",
];

test("a provider's ranges lead each sentence to its own address, in whatever order they come", async () => {
  const output = `${SENTENCES.slice(0, 2).join(" ")}\n\n${SENTENCES.slice(2).join(" ")}`;
  const citations = [3, 1, 2, 0].map((nth) => {
    const start = output.indexOf(SENTENCES[nth] ?? "");
    return { start, end: start + (SENTENCES[nth]?.length ?? 0), url: `${REFUSED_URL}/${nth}` };
  });
  const report = JSON.stringify({ request_id: "id", output, citations });
  const { run, home } = homeWith({}, { files: { "r.json": report } });
  const result = await run("check", `${home}/r.json`, "--json");
  expect(result.stdout, result.stderr).not.toBe("");
  const outcome = JSON.parse(result.stdout);
  expect(
    outcome.citations.map(({ claim, urls }: { claim: string; urls: string[] }) => [claim, urls]),
  ).toEqual(SENTENCES.map((claim, nth) => [claim, [`${REFUSED_URL}/${nth}`]]));
});
