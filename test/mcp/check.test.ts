import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { beforeAll, expect, test } from "vitest";
import { requireBuild } from "../support/build.js";
import { halfCited, publicWeb, reportOf } from "../support/cited-web.js";
import { folderWith } from "../support/folder.js";
import { research } from "../support/in-process.js";
import { leftovers } from "../support/leftovers.js";
import { connectMcp } from "../support/mcp.js";
import { ProviderDouble } from "../support/providers/double.js";
import { proxy } from "../support/proxy.js";

// Pages are read in a process of the build.
beforeAll(requireBuild);

async function checked(report: string, env: Record<string, string>) {
  const double = await ProviderDouble.start("openai", { result: () => report });
  const home = folderWith();
  await research(["run", "why => completed"], { home, env: double.env });
  const client = await connectMcp({ home, env: { ...double.env, ...env }, args: ["--read-only"] });
  return { client, home, env: double.env };
}

test("research_check gives what is wrong first, as a plain result, and keeps it for `show`", async () => {
  const { url, asked, env } = await publicWeb();
  const { client, home, env: own } = await checked(reportOf(url), env);
  const first = await client.call("research_check", { id: "@last" });
  expect(first).toMatchObject({
    isError: false,
    content: {
      complete: true,
      omitted: 0,
      counts: { found: 2, missing: 1, gone: 1, citations: 7 },
      citations: ["missing", "gone", "unreadable", "unchecked", "unchecked", "found", "found"].map(
        (verdict) => ({
          verdict,
        }),
      ),
    },
  });
  const [counts, ...lines] = first.text.split("\n");
  expect(counts).toContain("1 missing, 1 gone");
  expect(lines).toHaveLength(7);
  expect(lines[0]).toBe(`missing: The pool takes 1,700 connections. (not on the page: 1,700) ${url}/pool`);
  expect(lines[5]).toBe(`found: The pool takes 1,600 connections. ${url}/pool`);
  const pages = asked.length;
  await client.call("research_check", { id: "@last", pages: 3, seconds: 5 });
  // The same call again reads no page again.
  expect(asked).toHaveLength(pages);
  const shown = await research(["show", "@last", "--json"], { home, env: own });
  expect(JSON.parse(shown.stdout)).toMatchObject({ check: { counts: { missing: 1 } } });
});

test("what was not read in time is unreadable, and the same call again goes on", async () => {
  let answer = () => {};
  const server = createServer((_request, response) => {
    answer = () => response.writeHead(200, { "content-type": "text/html" }).end("<p>It takes 5 litres.</p>");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  leftovers.add(() => server.close().closeAllConnections());
  const { url } = await proxy((server.address() as AddressInfo).port);
  const { client } = await checked("It takes 5 litres (http://1.1.1.1/x).", { HTTP_PROXY: url });
  const call = (seconds: number) => client.call("research_check", { id: "@last", seconds });
  expect(await call(1)).toMatchObject({
    isError: false,
    content: { complete: false, citations: [{ verdict: "unreadable" }] },
  });
  server.on("request", () => answer());
  answer();
  expect(await call(30)).toMatchObject({
    isError: false,
    content: { complete: true, citations: [{ verdict: "found" }] },
  });
});

test("a long check is cut at 40,000 characters, the worst first", async () => {
  const { url, env } = await publicWeb();
  const many = Array.from(
    { length: 800 },
    (_, i) => `- The pool number ${i} takes 1,600 connections (${url}/pool).`,
  );
  const { client } = await checked(
    [`- It takes 1,700 or 1,800 connections ([a](${url}/pool), [b](${url}/tides)).`, ...many].join("\n"),
    env,
  );
  const { content, text } = await client.call("research_check", { id: "@last" });
  expect(text.length).toBeLessThanOrEqual(40_000);
  expect(JSON.stringify(content).length).toBeLessThanOrEqual(40_000);
  const { citations, omitted } = content as { citations: { verdict: string }[]; omitted: number };
  expect(citations[0]?.verdict).toBe("missing");
  expect(text.split("\n")[1]).toBe(
    `missing: It takes 1,700 or 1,800 connections. (not on the page: 1,700; 1,800) ${url}/pool ${url}/tides`,
  );
  expect(citations.length + omitted).toBe(801);
  expect(omitted).toBeGreaterThan(0);
});

test("a report whose marks lead nowhere was not checked, and one with other citations says how many do", async () => {
  const { url, env } = await publicWeb();
  const { client } = await checked("It takes 5 【12†L46-L54】.", env);
  expect(await client.call("research_check", { id: "@last" })).toMatchObject({
    isError: true,
    content: {
      error: {
        ...{ code: "NOT_CHECKED", exit_code: 9 },
        message: expect.stringMatching(/nothing was checked\. 1 mark of the report .* as Markdown or docx/),
      },
    },
  });
  const other = await checked(`It takes 1,600 connections (${url}/pool). So 【12†L46-L54】.`, env);
  const { isError, text } = await other.client.call("research_check", { id: "@last" });
  expect(isError).toBe(false);
  expect(text).toContain("1 mark of the report leads to no source");
});

test("sources that no sentence cites are counted and named", async () => {
  const { url, env } = await publicWeb();
  const { client } = await checked(halfCited(url), env);
  const { content, text } = await client.call("research_check", { id: "@last" });
  expect(content).toMatchObject({ counts: { marks_without_source: 1, sources_not_cited: 1 } });
  expect(text).toMatch(/\n1 mark of the report leads to no source, such as \[7\]\. Export /);
  expect(text).toContain(`\n1 listed source is cited by no sentence, such as ${url}/tides\n`);
});

test.each([{ id: "@last", pages: 0 }, { id: "@last", seconds: 241 }, { id: " " }])(
  "%j is refused",
  async (given) => {
    const { client } = await checked("It is.", {});
    expect(await client.call("research_check", given)).toMatchObject({
      isError: true,
      content: { error: { code: "USAGE", exit_code: 2 } },
    });
  },
);
