import { expect, test } from "vitest";
import { systemClock } from "../../../src/core/clock.js";
import { chooseProxy } from "../../../src/core/http/base-url-and-proxy.js";
import { Checker } from "../../../src/reader/checking/report-checker.js";
import { splitDocument } from "../../../src/reader/parsing/documents/split-document.js";
import { leftovers } from "../../support/leftovers.js";
import { proxy } from "../../support/proxy.js";
import { smallWeb } from "../../support/small-web.js";

/** A checker of a web in which every name leads to the same small server, through a proxy and without a port. */
async function checkerOf(pages: Record<string, string>): Promise<Checker> {
  const { port } = await smallWeb(pages);
  const { url } = await proxy(port);
  const checker = new Checker({
    network: {
      resolve: async () => ["203.0.113.5"],
      proxyFor: (target) => chooseProxy(target, { http_proxy: url }),
    },
    accessTo: () => () => "public",
    ...{ clock: systemClock, version: undefined, read: splitDocument },
    isInDns: () => true,
    forbidden: () => undefined,
  });
  leftovers.add(() => checker.close());
  return checker;
}

test("a redirect of Google's grounding that ended says nothing of the page that it led to", async () => {
  const redirect = "http://vertexaisearch.cloud.google.com/grounding-api-redirect/AUZIYQ";
  const checker = await checkerOf({ "a.test/pool": "<p>The pool takes 1,600 connections.</p>" });
  const report = [
    `The pool takes 1,600 connections (http://a.test/pool).`,
    `It takes 5 (${redirect}). It takes 6 (http://a.test/gone).`,
  ];
  const options = { pages: 9, timeoutMs: 0, signal: new AbortController().signal };
  const given = { citations: [], sources: [] };
  const { checked } = await checker.check({ text: report.join("\n\n"), given }, options);
  expect(checked.citations.map(({ verdict }) => verdict)).toEqual(["found", "unreadable", "gone"]);
});

test("a page that is not requested names the reason", async () => {
  const checker = await checkerOf({ "a.test/pool": "<p>The pool takes 1,600 connections.</p>" });
  const text = [
    "The pool takes 1,600 connections (http://a.test/pool).",
    "It takes 5 (http://a.test/other). It takes 6 (docs/a.md:3). It takes 7 [1].",
  ].join("\n\n");
  const given = { citations: [], sources: ["http://["] };
  const options = { pages: 1, timeoutMs: 0, signal: new AbortController().signal };
  const { checked } = await checker.check({ text, given }, options);
  expect(checked.pages.map(({ url, reason }) => [url, reason])).toEqual([
    ["http://a.test/pool", null],
    ["http://a.test/other", "a check reads at most 1 page"],
    ["docs/a.md:3", "a place in a file: --sources DIR names the folder to look in"],
    ["http://[", "its address is invalid"],
  ]);
});
