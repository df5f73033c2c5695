// Writes requests.ts: what the built program would send, each held to the type of the official client, so that a field which
// the client does not take does not compile.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";

const program = join(import.meta.dirname, "../../bin/research.js");
const SCHEMA = JSON.stringify({
  type: "object",
  properties: { answer: { type: "string", description: "what is asked for" } },
  required: ["answer"],
  additionalProperties: false,
});
const EVERYWHERE = [[], ["--schema", SCHEMA]];

/**
 * The flags of the creates at each provider, and what its client takes. An effort at Perplexity is in its pages alone.
 * @type {Record<string, { takes: string, flags: string[][] }>}
 */
const REQUESTS = {
  openai: {
    takes: "OpenAI.Responses.ResponseCreateParamsNonStreaming",
    flags: [
      ...EVERYWHERE,
      ["--model", "gpt-6.2-astra"],
      ["--after", "resp_1"],
      ["--window", "2h"],
      ["--window", "8h", "--model", "gpt-6.2-sol", "--after", "resp_1"],
      ["--domains", "a.example,b.example"],
      ["--set", "store=false"],
      ["--set", 'reasoning={"effort":"medium"}', "--set", "max_tool_calls=20"],
      ["--set", 'tools=[{"type":"file_search","vector_store_ids":["vs_1"]}]'],
      ["--set", 'tools=[{"type":"mcp","server_label":"a","server_url":"https://a.example"}]'],
      ["--set", 'tools=[{"type":"web_search_preview"}]'],
    ],
  },
  perplexity: {
    takes: "Perplexity.Responses.ResponseCreateParamsNonStreaming",
    flags: [
      ...EVERYWHERE,
      ["--model", "xhigh"],
      ["--model", "openai/gpt-6", "--after", "resp_1"],
      ["--domains", "a.example", "--not-domains", "b.example"],
    ],
  },
  exa: {
    takes: 'Parameters<Exa["agent"]["runs"]["create"]>[0]',
    flags: [
      ...EVERYWHERE,
      ["--model", "high", "--after", "agent_run_1"],
      ["--model", "auto", "--set", 'budget={"maxCostDollars":2}'],
    ],
  },
  parallel: {
    takes: "Parallel.TaskRunCreateParams",
    flags: [
      ...EVERYWHERE,
      ["--structured"],
      ["--model", "ultra"],
      ["--domains", "a.example", "--not-domains", "b.example"],
    ],
  },
  gemini: {
    takes: 'Parameters<GoogleGenAI["interactions"]["create"]>[0]',
    flags: [...EVERYWHERE, ["--model", "deep-research-max-preview-04-2026", "--after", "v1_1"]],
  },
};

const home = mkdtempSync(join(tmpdir(), "research-sdk-"));
const lines = [
  'import type { GoogleGenAI } from "@google/genai";',
  'import type Perplexity from "@perplexity-ai/perplexity_ai";',
  'import type { Exa } from "exa-js";',
  'import type OpenAI from "openai";',
  'import type Parallel from "parallel-web";',
  "export const requests = [",
];
for (const [provider, { takes, flags }] of Object.entries(REQUESTS))
  for (const own of flags) {
    const env = { PATH: process.env.PATH, HOME: home, RESEARCH_PROVIDER: provider, RESEARCH_API_KEY: "k" };
    const args = [program, "create", "How do tides form?", "--dry-run", "--json", ...own];
    const { body } = JSON.parse(execFileSync(process.execPath, args, { env, encoding: "utf8" }));
    lines.push(`  ${JSON.stringify(body)} satisfies ${takes},`);
  }
rmSync(home, { recursive: true, force: true });
writeFileSync(join(import.meta.dirname, "requests.ts"), `${lines.join("\n")}\n];\n`);
