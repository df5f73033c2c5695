import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import {
  type ChatRequest,
  modelEndpoint,
  type ReplyOptions,
  says,
  verdicts,
} from "../../../support/model-endpoint.js";
import { ask, behaving, jobOf, type Setting } from "../../../support/model-researcher.js";

const REPLIES = JSON.parse(
  readFileSync(join(import.meta.dirname, "../../../support/texts/model-replies.json"), "utf8"),
);
const { question, sources, replies } = REPLIES.conflict;
const [plan, notes, written] = replies;
const TRUE = [
  "The request timeout is 45 seconds by default",
  "The timeout was raised from 30 to 45 seconds",
  "The README is out of date",
  "The ops runbook, last reviewed in 2024",
  "The retention was raised from 90 to 180 days",
];
/** Sentences that no source states, each with facts that a careless model gave it. */
const PLANTED = [
  "Requests that time out are sent again by the client.",
  "Archived orders are deleted for good after a while.",
  "The older PostgreSQL still works if warnings are switched off.",
  "A cluster in staging shares its database with production.",
  "The legal department has to agree to each change of the default.",
  "Exports are exempt from the timeout.",
];
const INVENTED = "Run `orderd migrate --force` before an upgrade.";

/** The research of `conflict`, with what was planted in its answer. */
async function research(
  check: (request: ChatRequest) => ReturnType<typeof says>,
  setting: Setting = {},
  options?: ReplyOptions,
) {
  const draft = typeof written === "string" ? JSON.parse(written) : written;
  const planted = [...PLANTED, INVENTED].map((text, i) => ({ text, facts: [i + 1] }));
  const answer = {
    sentences: draft.sentences.slice(0, 5),
    sections: [{ title: "More", kind: "list", columns: [], items: planted }],
  };
  const endpoint = await modelEndpoint((request) => {
    if (request.step === "check") return check(request);
    return request.step === "answer" ? says(answer, options) : says(request.step === "plan" ? plan : notes);
  });
  const report = String(await ask(endpoint, { files: sources, ...setting }, jobOf(question)));
  return { endpoint, report, answered: report.split("\n## Quotes\n")[0] ?? "" };
}
const refusing = (request: ChatRequest) =>
  verdicts(
    request,
    Object.fromEntries(PLANTED.map((text, i) => [text, i % 2 ? "contradicted" : "not stated"])),
  );

it("what the quotes do not state goes, and what they state stays", async () => {
  const { endpoint, report, answered } = await research(refusing);
  for (const text of TRUE) expect(answered).toContain(text);
  for (const text of PLANTED) expect(answered).not.toContain(text);
  // An invented command is never asked about.
  expect(answered).not.toContain("migrate");
  const asked = endpoint.requests.find(({ step }) => step === "check")?.input ?? "";
  expect(asked).not.toContain("migrate --force");
  expect(asked).toContain(`under More] ${PLANTED[0]}`);
  expect(asked).toMatch(/\[Quote \d+: CHANGELOG\.md, Changelog \/ 3\.1\.0 \(2025-11-02\)\]\n/);
  expect(report).toContain("sentences that no quote supports (7)");
  expect(answered).not.toContain("[not checked]");
});

it("costs at most a quarter on top", async () => {
  let replied = 0;
  const counted = (reply: unknown) => {
    replied += JSON.stringify(reply).length;
    return says(reply);
  };
  const endpoint = await modelEndpoint((request) =>
    request.step === "check"
      ? verdicts(request)
      : counted({ plan, notes, answer: written }[request.step as "plan"]),
  );
  await ask(endpoint, { files: sources }, jobOf(question));
  const [before = [], checks = []] = [false, true].map((isCheck) =>
    endpoint.requests.filter(({ step }) => (step === "check") === isCheck),
  );
  const bytesOf = (requests: ChatRequest[]) =>
    requests.flatMap(({ body }) => body.messages).reduce((sum, { content }) => sum + content.length, 0);
  expect(
    bytesOf(checks) + JSON.stringify({ stated: [1, 2, 3, 4, 5, 6], "not stated": [] }).length,
  ).toBeLessThan((bytesOf(before) + replied) / 4);
});

it("a list of steps goes whole if one of them is not stated", async () => {
  const steps = ["Stop the server.", "Copy the folder.", "Start the server."];
  const files = { "move.md": `# Moving\n\n${steps.map((step, i) => `${i + 1}. ${step}\n`).join("")}` };
  const behave = (not: string) =>
    behaving({
      notes: () =>
        says({
          facts: steps.map((quote) => ({ claim: quote, source: 1, quote })),
          answered: [1],
          queries: [],
        }),
      answer: () =>
        says({
          sentences: [{ text: "Moving takes a stop and a start.", facts: [1, 3] }],
          sections: [{ title: "", kind: "steps", items: steps.map((text, i) => ({ text, facts: [i + 1] })) }],
        }),
      check: (request) => verdicts(request, { [not]: "not stated" }),
    });
  const job = jobOf("How do I move the server folder?");
  const kept = String(await ask(await modelEndpoint(behave("nothing")), { files }, job));
  expect(kept).toContain("1. Stop the server. [1]\n2. Copy the folder. [3]\n3. Start");
  const gone = String(await ask(await modelEndpoint(behave("Copy the")), { files }, job));
  expect(gone).toContain("Moving takes a stop and a start. [1, 2]\n\n## Quotes");
  expect(gone).toContain("whole lists of steps, since a step of each is not supported (1)");
});

it.each<[string, (request: ChatRequest) => ReturnType<typeof says>, number]>([
  [
    "has no verdict, also when it was asked for once more",
    (request) => verdicts(request, { [TRUE[0] ?? ""]: "hm" }),
    1,
  ],
  ["is asked about in vain", () => says("I would rather not."), 11],
])("what %s is marked", async (_name, check, marked) => {
  const { endpoint, answered } = await research(check);
  expect(endpoint.count("check")).toBe(2);
  expect(answered.match(/\] \[not checked\]/g)).toHaveLength(marked);
});

it("takes a list of verdicts, and of two verdicts on a sentence the worse", async () => {
  const { answered } = await research((request) => {
    const numbers = [...request.input.matchAll(/^\[Sentence (\d+),.*?\] (.*)$/gm)];
    const of = (text: string) => (PLANTED.includes(text) ? "Not_stated" : "stated");
    const verdicts = numbers.map(([, nth, text = ""]) => ({ sentence: Number(nth), verdict: of(text) }));
    return says({ verdicts, stated: numbers.map(([, nth]) => `${nth}`) });
  });
  for (const text of TRUE) expect(answered).toContain(text);
  for (const text of PLANTED) expect(answered).not.toContain(text);
  expect(answered).not.toContain("[not checked]");
});

it("where the tokens do not suffice, what shares the fewest words with its quotes is asked about first", async () => {
  const usage = { prompt_tokens: 1_000, completion_tokens: 33_500 };
  const { endpoint, answered } = await research(
    refusing,
    { limits: { tokens: 40_000, calls: 20, ms: 600_000 } },
    { usage },
  );
  const asked = endpoint.requests.find(({ step }) => step === "check")?.input ?? "";
  const texts = [...asked.matchAll(/^\[Sentence .*?\] (.*)$/gm)].map(([, text]) => text ?? "");
  expect(texts.length).toBeGreaterThan(0);
  expect(PLANTED).toContain(texts[0]);
  const marked = answered.match(/\] \[not checked\]/g) ?? [];
  expect(marked).toHaveLength(11 - texts.length);
});
