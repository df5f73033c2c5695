import { GoogleGenAI } from "@google/genai";
import Perplexity from "@perplexity-ai/perplexity_ai";
import { tavily } from "@tavily/core";
import { Exa } from "exa-js";
import OpenAI from "openai";
import Parallel from "parallel-web";
import { expect, test } from "vitest";
import type { ProviderName } from "../support/providers/bodies.js";
import { KEY, ProviderDouble } from "../support/providers/double.js";

const QUESTION = "How do tides form?";
const ANSWER = `An answer to: ${QUESTION} => in_progress completed`;

/** Runs at a double, which then has seen one create, whose body fits what the provider documents. */
async function at(provider: ProviderName, use: (double: ProviderDouble) => Promise<void>): Promise<void> {
  const double = await ProviderDouble.start(provider);
  await use(double);
  expect(double.problems).toEqual([]);
}

const input = `${QUESTION} => in_progress completed`;

test("openai creates, polls, reads and cancels", async () => {
  await at("openai", async ({ url }) => {
    const { responses } = new OpenAI({ apiKey: KEY, baseURL: `${url}/v1` });
    const model = "gpt-6.2-sol";
    const made = await responses.create({ model, input, background: true, store: true });
    expect(made.status).toBe("queued");
    expect((await responses.retrieve(made.id)).status).toBe("in_progress");
    const done = await responses.retrieve(made.id);
    expect(done).toMatchObject({ status: "completed", output_text: ANSWER });
    const other = await responses.create({ model, input, background: true, store: true });
    expect((await responses.cancel(other.id)).status).toBe("cancelled");
    await expect(responses.retrieve("resp_none")).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    const stranger = new OpenAI({ apiKey: "another-key", baseURL: `${url}/v1` });
    await expect(stranger.responses.retrieve(made.id)).rejects.toBeInstanceOf(OpenAI.AuthenticationError);
  });
});

test("@perplexity-ai/perplexity_ai creates, polls, reads and cancels", async () => {
  await at("perplexity", async ({ url }) => {
    const { responses } = new Perplexity({ apiKey: KEY, baseURL: url });
    const made = await responses.create({ preset: "high", input, background: true });
    expect((await responses.retrieve(made.id)).output.map(({ type }) => type)).toEqual([
      ...["search_results", "fetch_url_results"],
    ]);
    const done = await responses.retrieve(made.id);
    expect(done).toMatchObject({
      status: "completed",
      output_text: ANSWER,
      usage: { cost: { total_cost: 0.42 } },
    });
    const other = await responses.create({ preset: "high", input, background: true });
    expect(await responses.cancel(other.id)).toEqual({ response_id: other.id, status: "cancelling" });
    await expect(responses.cancel(made.id)).rejects.toBeInstanceOf(Perplexity.BadRequestError);
  });
});

test("exa-js creates, polls, reads and cancels", async () => {
  await at("exa", async ({ url }) => {
    const { runs } = new Exa(KEY, url).agent;
    const query = `${QUESTION} => running completed`;
    const made = await runs.create({ query, effort: "medium" });
    expect((await runs.get(made.id)).status).toBe("running");
    const { output, stopReason } = await runs.get(made.id);
    expect([output?.text, stopReason]).toEqual([`An answer to: ${query}`, "schema_satisfied"]);
    const other = await runs.create({ query });
    expect((await runs.cancel(other.id)).status).toBe("cancelled");
    await expect(runs.get("agent_run_none")).rejects.toThrow("No run agent_run_none.");
  });
});

test("parallel-web creates, polls and reads", async () => {
  await at("parallel", async ({ url }) => {
    const { taskRun } = new Parallel({ apiKey: KEY, baseURL: url });
    const question = `${QUESTION} => running completed`;
    const task_spec = { output_schema: { type: "text" as const } };
    const made = await taskRun.create({ input: question, processor: "pro", task_spec });
    expect((await taskRun.retrieve(made.run_id)).is_active).toBe(true);
    expect((await taskRun.retrieve(made.run_id)).status).toBe("completed");
    const { output } = await taskRun.result(made.run_id, { timeout: 1 });
    expect(output.content).toBe(`An answer to: ${question}`);
    expect(output.basis[0]?.citations?.[0]?.url).toBe("https://a.example/one");
    await expect(taskRun.retrieve("trun_none")).rejects.toBeInstanceOf(Parallel.NotFoundError);
  });
});

test("@google/genai creates, polls and reads, and its cancel is refused", async () => {
  await at("gemini", async ({ url }) => {
    const { interactions } = new GoogleGenAI({ apiKey: KEY, httpOptions: { baseUrl: url } });
    const agent = "deep-research-preview-04-2026";
    const made = await interactions.create({ agent, input, background: true, store: true });
    expect((await interactions.get(made.id)).status).toBe("in_progress");
    const done = await interactions.get(made.id);
    expect(done).toMatchObject({ status: "completed", output_text: ANSWER, usage: { total_tokens: 1_200 } });
    await expect(interactions.cancel(made.id)).rejects.toThrow("Method not found.");
    const stranger = new GoogleGenAI({ apiKey: "another-key", httpOptions: { baseUrl: url } });
    await expect(stranger.interactions.get(made.id)).rejects.toThrow("API key not valid");
  });
});

test("@tavily/core creates, polls and reads", async () => {
  await at("tavily", async ({ url }) => {
    const client = tavily({ apiKey: KEY, apiBaseURL: url });
    const made = await client.research(input, { model: "mini" });
    if (!("requestId" in made)) throw new Error("a stream came");
    expect(await client.getResearch(made.requestId)).toMatchObject({ status: "in_progress" });
    expect(await client.getResearch(made.requestId)).toMatchObject({
      ...{ status: "completed", content: ANSWER },
      sources: expect.arrayContaining([expect.objectContaining({ url: "https://a.example/one" })]),
    });
  });
});
