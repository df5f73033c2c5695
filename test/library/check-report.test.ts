import { beforeAll, expect, test } from "vitest";
import { checkReport, openResearch, ResearchError } from "../../src/index.js";
import { requireBuild } from "../support/build.js";
import { citedWeb, reportOf, VERDICTS } from "../support/cited-web.js";
import { folderWith } from "../support/folder.js";
import { foldersIn } from "../support/home.js";
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
