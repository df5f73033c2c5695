import { beforeAll, expect, test, vi } from "vitest";
import { checkReport, openResearch, ResearchError } from "../../src/index.js";
import { requireBuild } from "../support/build.js";
import { citedWeb, reportOf, VERDICTS } from "../support/cited-web.js";
import { folderWith } from "../support/folder.js";
import { foldersIn } from "../support/home.js";
import { buildReport, HELD, POOL, SET } from "../support/judged-report.js";
import { modelEndpoint } from "../support/model-endpoint.js";
import { ProviderDouble } from "../support/providers/double.js";

// Pages are read in a process of the build.
beforeAll(requireBuild);

test("checkReport gives each citation of a text its verdict", async () => {
  const { url } = await citedWeb();
  const outcome = await checkReport(reportOf(url), { allowPrivate: true });
  expect(outcome.citations.map(({ verdict }) => verdict)).toEqual(VERDICTS);
  expect(outcome).toMatchObject({ request_id: null, file: null, complete: true, counts: { missing: 1 } });
  const few = await checkReport(reportOf(url), { allowPrivate: true, pages: 1 });
  expect(few).toMatchObject({ complete: false, counts: { gone: 0 } });
});

test("a model adds what it proves; only the given key goes to it, and no variable names another", async () => {
  const { url } = await citedWeb(POOL);
  const endpoint = await modelEndpoint(HELD);
  const usages: object[] = [];
  const model = { name: "m", url: endpoint.url, apiKey: "sk-library", price: { input: 1, output: 2 } };
  vi.stubEnv("RESEARCH_MODEL_NAME", "another");
  vi.stubEnv("RESEARCH_MODEL_API_KEY", "sk-variable");
  const outcome = await checkReport(buildReport(url), {
    allowPrivate: true,
    model: { ...model, onUsage: (usage) => usages.push(usage) },
  }).finally(() => vi.unstubAllEnvs());
  expect(outcome.citations.map(({ support }) => support)).toEqual(SET.map(({ verdict }) => verdict));
  expect(outcome).toMatchObject({ model: "m", metrics: { citation_accuracy: 0.5, effective_citations: 2 } });
  expect(usages).toEqual([expect.objectContaining({ calls: 1, cost_dollars: expect.any(Number) })]);
  expect(JSON.stringify(usages)).not.toContain("sk-");
  expect(endpoint.requests.map(({ headers }) => headers.authorization)).toEqual(["Bearer sk-library"]);
  const bad = { allowPrivate: true, model: { ...model, url: "ftp://x" } };
  await expect(checkReport(buildReport(url), bad)).rejects.toMatchObject({ code: "USAGE" });
  expect(endpoint.requests).toHaveLength(1);
});

test("it rejects with the signal's reason, and with a code", async () => {
  const reason = new Error("enough");
  await expect(checkReport("x", { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  const error = await checkReport("x ".repeat(2_000_000)).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ResearchError);
  expect(error).toMatchObject({ code: "USAGE" });
});

test("research.check(id) checks the result of a request", async () => {
  const { url } = await citedWeb();
  const double = await ProviderDouble.start("openai", { result: () => reportOf(url) });
  const research = openResearch({ env: { ...foldersIn(folderWith()), ...double.env } });
  const { requestId } = await research.submit("why => completed");
  const outcome = await research.check(requestId, { allowPrivate: true });
  expect(outcome.request_id).toBe(requestId);
  expect(outcome.citations.map(({ verdict }) => verdict)).toEqual(VERDICTS);
  await research.close();
});
