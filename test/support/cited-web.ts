import { createServer, type Server } from "node:http";
import { listen } from "./listen.js";
import { proxy } from "./proxy.js";

const PAGES: Record<string, string> = {
  "/pool": `<title>Pool</title><nav>4711</nav><h1>Pool</h1><p>The pool takes 1,600 connections.</p>
    <table><tr><th>Option</th><th>Timeout (ms)</th></tr><tr><td>wait</td><td>2500</td></tr></table>`,
  "/tides": "<p>The tides are caused by the gravity of the moon, and it is the way of the world.</p>",
};

/** A web on 127.0.0.1; the addresses that were asked for, without robots.txt. */
export async function citedWeb(
  pages = PAGES,
): Promise<{ url: string; asked: string[]; server: Server; port: number }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const { url = "" } = request;
    if (url !== "/robots.txt") asked.push(url);
    const page = pages[url];
    response.writeHead(page === undefined ? 404 : 200, { "content-type": "text/html" }).end(page ?? "no");
  });
  const port = await listen(server);
  return { url: `http://127.0.0.1:${port}`, asked, server, port };
}

/** A report that cites it: a citation for each of VERDICTS. */
export const reportOf = (url: string) =>
  [
    "# Pools",
    "",
    "The pool takes 1,600 connections [1]. The pool takes 1,700 connections [1]. Nobody cites this.",
    "",
    `- The option *wait* is 2.5 s ([a](${url}/pool))`,
    `- Its number is 4711 [1]`,
    `- It ended in 2019 (${url}/nothing)`,
    `- It has a [script](javascript:alert(1)).`,
    "- The committee rejected the proposal after a heated debate in parliament [2].",
    "",
    "## Sources",
    "",
    `1. ${url}/pool`,
    `2. [Tides](${url}/tides)`,
  ].join("\n");

/** A report with a mark that leads to no source, and with a source that no sentence cites. */
export const halfCited = (url: string) =>
  `It takes 1,600 connections [1]. So [7].\n\n## Zdroje\n\n1. Pool ${url}/pool\n2. Tides ${url}/tides\n`;

/** A report as copied from the pages of ChatGPT and Grok: the addresses stay behind. */
export const COPIED =
  'It takes 5 【12†L46-L54】. It is 7 :contentReference[oaicite:3]{index=3}.\n\nSo\ue200cite\ue202turn0search1\ue201. 8<grok:render type="citation"><argument name="id">1</argument></grok:render>\n';

/** Of its citations, in their order. */
export const VERDICTS = ["found", "missing", "found", "unchecked", "gone", "unreadable", "unchecked"];

/** The web of `pages` under http://1.1.1.1, through a proxy: as it is for what allows no private address. */
export async function publicWeb(pages = PAGES) {
  const { asked, port } = await citedWeb(pages);
  const { url } = await proxy(port);
  return { url: "http://1.1.1.1", asked, env: { HTTP_PROXY: url } };
}
