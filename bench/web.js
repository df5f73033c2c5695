// Ten pages of ten hosts: found by an engine, fetched through a proxy, cut and indexed by the built program.
import { createServer } from "node:http";
import { connect } from "node:net";
import { peakMemory, summary, wallTime } from "./support/process.js";

const PAGES = 10;
const RUNS = 5;
/** About 100 kB of text. */
const PAGE = `<title>Tides</title><h1>Tides</h1>${Array.from(
  { length: 600 },
  (_, i) =>
    `<h2>Harbour ${i}</h2><p>The tide at harbour ${i} is high twice a day, and its depth is ${i} feet at ebb. The bar is closed when the wind is from the north.</p>`,
).join("\n")}`;

/** @param {import("node:http").RequestListener} listener */
async function serve(listener) {
  const server = createServer(listener);
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const address = server.address();
  const port = address && typeof address === "object" ? address.port : 0;
  return { server, port, url: `http://127.0.0.1:${port}` };
}

/**
 * Milliseconds of a whole `try` that reads them (median of five), less those of one that finds none, and the largest
 * resident size in MiB. Engine and model answer at once.
 * @param {string} program the path of bin/research.js
 */
export async function webFigures(program) {
  let found = PAGES;
  let fetched = 0;
  const web = await serve((request, response) => {
    if (request.url === "/robots.txt") return void response.writeHead(404).end();
    fetched += 1;
    return void response.setHeader("content-type", "text/html").end(PAGE);
  });
  // Public addresses, so that the rule for addresses holds; the proxy leads them all to this machine.
  const proxy = await serve((_request, response) => void response.writeHead(400).end());
  proxy.server.on("connect", (_request, socket) => {
    const out = connect(web.port, "127.0.0.1", () => socket.write("HTTP/1.1 200 OK\r\n\r\n"));
    out.on("error", () => socket.destroy());
    socket.on("error", () => out.destroy());
    socket.pipe(out).pipe(socket);
  });
  const engine = await serve((_request, response) => {
    const results = Array.from({ length: found }, (_, i) => ({
      url: `http://93.184.216.${i + 1}/`,
      title: "Tides",
    }));
    response.setHeader("content-type", "application/json").end(JSON.stringify({ results }));
  });
  const model = await serve((request, response) => {
    const content = JSON.stringify({ queries: [], facts: [], sentences: [] });
    const body = JSON.stringify({
      choices: [{ message: { role: "assistant", content }, finish_reason: "stop" }],
    });
    request.resume().on("end", () => response.setHeader("content-type", "application/json").end(body));
  });
  const args = [program, "try", "When is the tide high?", "--model", "m", "--model-url", `${model.url}/v1`];
  const command = { args: [...args, "--search", `searxng=${engine.url}`], env: { HTTP_PROXY: proxy.url } };
  try {
    const times = async () => {
      /** @type {number[]} */
      const taken = [];
      for (let i = 0; i < RUNS; i++) taken.push(await wallTime(command));
      return summary(taken).median;
    };
    const whole = await times();
    if (fetched < PAGES * RUNS) throw new Error(`${fetched} of ${PAGES * RUNS} pages were fetched`);
    const mib = await peakMemory(command);
    found = 0;
    return { ms: whole - (await times()), mib };
  } finally {
    for (const { server } of [web, proxy, engine, model]) server.close().closeAllConnections();
  }
}
