// What a create and a status of the library take beyond the same requests by undici alone, at one double.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { Client, request } from "undici";
import { summary } from "./support/process.js";

const PROMPT = { prompt: "What do heat pumps cost?" };

/**
 * The median of the differences in milliseconds, pair by pair, for the interface itself and for a provider.
 * @param {number} pairs
 */
export async function exchangeFigures(pairs) {
  // The types of what is built are those of its sources.
  const built = new URL("../dist/index.js", import.meta.url).href;
  /** @type {typeof import("../src/index.js")} */
  const { providerNamed, ResearchClient } = await import(built);
  const double = spawn(process.execPath, [join(import.meta.dirname, "support/service.js")]);
  const [line] = await once(double.stdout, "data");
  const baseUrl = String(line).trim();
  /** @type {{ of: string, create: number, status: number }[]} */
  const figures = [];
  for (const name of ["research", "openai"]) {
    const provider = providerNamed(name);
    const path = provider ? "/v1/responses" : "/api/v1/conversations";
    const status = provider ? `${path}/resp_bench` : "/api/v1/conversation/r-1/status";
    const client = new ResearchClient({
      ...{ baseUrl, apiKey: "sk-bench", proxyEnvironment: {} },
      ...(provider && { dialect: () => provider.load(provider.defaultModel) }),
    });
    const id = provider ? "resp_bench" : "r-1";
    const bare = new Client(baseUrl);
    const body = JSON.stringify(PROMPT);
    const headers = { "content-type": "application/json", authorization: "Bearer sk-bench" };
    const create = await differences(
      pairs,
      () => client.create(PROMPT),
      async () =>
        (await request(`${baseUrl}${path}`, { method: "POST", headers, body, reset: true })).body.json(),
    );
    const asked = await differences(
      pairs,
      () => client.status(id),
      async () => (await bare.request({ path: status, method: "GET", headers })).body.json(),
      // The pace of polls is no overhead.
      provider ? 100 : 20,
    );
    figures.push({ of: name, create, status: asked });
    await bare.close();
    await client.close();
  }
  double.kill();
  return figures;
}

/**
 * @param {number} pairs
 * @param {() => Promise<unknown>} ours
 * @param {() => Promise<unknown>} bare
 * @param {number} [betweenMs]
 */
async function differences(pairs, ours, bare, betweenMs = 0) {
  /** @type {number[]} */
  const found = [];
  for (let n = -3; n < pairs; n++) {
    const took = [];
    for (const run of [ours, bare]) {
      await new Promise((resolve) => setTimeout(resolve, betweenMs));
      const start = performance.now();
      await run();
      took.push(performance.now() - start);
    }
    // The first ones load what is needed.
    if (n >= 0) found.push((took[0] ?? 0) - (took[1] ?? 0));
  }
  return summary(found).median;
}
