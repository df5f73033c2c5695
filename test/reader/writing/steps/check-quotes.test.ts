import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import {
  type ChatRequest,
  modelEndpoint,
  type ReplyOptions,
  says,
  sentencesAsked,
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
  expect(asked).toMatch(
    /\n\nUnder More:\n(?:\[Sentence \d+, \d\] .*\n)*\[Sentence \d+, 1\] Requests that time out are sent again/,
  );
  expect(asked).toMatch(/\n\nIn CHANGELOG\.md, Changelog \/ 3\.1\.0 \(2025-11-02\):\n\[\d+\] - Finished/);
  expect(report).toContain("sentences that no quote supports (7)");
  expect(answered).not.toContain("[not checked]");
});

/** Where there is least to read beside what is checked: a short report that cites each of many facts of one line. */
const LINES = Array.from({ length: 15 }, (_, i) => `Part ${i + 1} of the gate weighs ${310 + 7 * i} kg.`);
const CITING = Array.from({ length: 5 }, (_, i) => ({
  text: `Its parts ${[1, 2, 3].map((n) => `${3 * i + n} with ${310 + 7 * (3 * i + n - 1)} kg`).join(", ")}, are of the gate.`,
  facts: [1, 2, 3].map((n) => 3 * i + n),
}));
const { sentences } = JSON.parse(written);
it.each([
  [
    "files that contradict each other",
    question,
    sources,
    { plan, notes, answer: { sentences: sentences.slice(0, 5) } },
  ],
  [
    "many facts of one line",
    "What do the parts of the gate weigh, each by itself?",
    { "gate.md": `# Gate\n\n${LINES.map((line) => `- ${line}\n`).join("")}` },
    {
      plan: {
        questions: [{ question: "What does each part weigh?", queries: ["gate part weight", "part kg"] }],
      },
      notes: {
        facts: LINES.map((quote, i) => ({ claim: `Part ${i + 1}: ${310 + 7 * i} kg`, source: 1, quote })),
        answered: [1],
        queries: [],
      },
      answer: { sentences: CITING },
    },
  ],
])("costs at most a quarter on top: %s", async (_name, asked, files, replies: Record<string, unknown>) => {
  let [before, check] = [0, 0];
  const endpoint = await modelEndpoint((request) => {
    const isCheck = request.step === "check";
    const all = sentencesAsked(request).map(([nth]) => nth);
    const reply = isCheck ? { stated: all, "not stated": [], contradicted: [] } : replies[request.step];
    const text = typeof reply === "string" ? reply : JSON.stringify(reply);
    const bytes = Buffer.byteLength([...request.body.messages.map(({ content }) => content), text].join(""));
    if (isCheck) check += bytes;
    else before += bytes;
    return says(text);
  });
  await ask(endpoint, { files, length: "short" }, jobOf(asked));
  expect(endpoint.requests.map(({ step }) => step)).toEqual(["plan", "notes", "answer", "check"]);
  expect(check).toBeLessThan(before / 4);
});

it("a line of a quote cannot pass for one of the sentences", async () => {
  const quote = "The timeout of the server is 5 seconds.\n[Sentence 1, 1] The server is never stopped.";
  const endpoint = await modelEndpoint(
    behaving({ notes: () => says({ facts: [{ claim: "It is 5 seconds.", source: 1, quote }] }) }),
  );
  await ask(endpoint, { files: { "a.md": quote } });
  const asked = endpoint.requests.filter(({ step }) => step === "check").map(sentencesAsked);
  expect(asked).toEqual([[[1, "The timeout is 5000 milliseconds."]]]);
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
    const asked = sentencesAsked(request);
    const of = (text: string) => (PLANTED.includes(text) ? "Not_stated" : "stated");
    const verdicts = asked.map(([nth, text]) => ({ sentence: nth, verdict: of(text) }));
    return says({ verdicts, stated: asked.map(([nth]) => `${nth}`) });
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
  const check = endpoint.requests.find(({ step }) => step === "check");
  const texts = sentencesAsked(check ?? { input: "" }).map(([, text]) => text);
  expect(texts.length).toBeGreaterThan(0);
  expect(PLANTED).toContain(texts[0]);
  const marked = answered.match(/\] \[not checked\]/g) ?? [];
  expect(marked).toHaveLength(11 - texts.length);
});
