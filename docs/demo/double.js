import { once } from "node:events";
import { createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { connect } from "node:net";

/** For the double of Exa only. It is signed by itself, so that only the recorded program is told to trust it. */
export const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBojCCAUigAwIBAgIUXku8P8eW2KKih5cFBC7YXKkII0owCgYIKoZIzj0EAwIw
GjEYMBYGA1UEAwwPYSBkb3VibGUgb2YgRXhhMCAXDTI2MTEyNDAyMDM0NFoYDzIx
MjYxMDMxMDIwMzQ0WjAaMRgwFgYDVQQDDA9hIGRvdWJsZSBvZiBFeGEwWTATBgcq
hkjOPQIBBggqhkjOPQMBBwNCAAQOcb4alX2Y3A71p2lekIT2nlj5HLMPbrueCiy3
rcQnK4ixCMXnX+X4Tn9hbeJnB4xZ58KgzZ8tqLXJ4WpYzmEco2owaDAdBgNVHQ4E
FgQUgrlK3h6jW3GYfYBlKkDkaM6XWP4wHwYDVR0jBBgwFoAUgrlK3h6jW3GYfYBl
KkDkaM6XWP4wDwYDVR0TAQH/BAUwAwEB/zAVBgNVHREEDjAMggphcGkuZXhhLmFp
MAoGCCqGSM49BAMCA0gAMEUCIQCFud7uvPSZZyfdh8CN9TW+/3vxFfpUwcl0xivL
JZ2a1wIgCM4+jeym3egXhs592rG5S15o4jHYEmpPLAwSHL/jfEU=
-----END CERTIFICATE-----
`;
/** Its key; it opens nothing else. */
const CERTIFICATE_KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgRs4jDYk5k7rxAkVO
KmdwxGAfFOiijmvKrdrZaNciGq2hRANCAAQOcb4alX2Y3A71p2lekIT2nlj5HLMP
brueCiy3rcQnK4ixCMXnX+X4Tn9hbeJnB4xZ58KgzZ8tqLXJ4WpYzmEc
-----END PRIVATE KEY-----
`;

const ID = "agent_run_01k9x7c2vtfe84mhq3zj5nwb6d";
const SOURCES = [
  { title: "What causes tides?", url: "https://oceanservice.example/tides" },
  { title: "Tidal forces", url: "https://physics.example/tidal-forces" },
];
const REPORT = `# Why there are two tides a day

The Moon pulls **more** on the side of the Earth that faces it and **less** on the
far side. The difference stretches the oceans into two bulges [1], and a coast
passes both in 24 h 50 min [2].

| tide | when | range |
|---|---|---:|
| spring | new and full Moon | + 20 % |
| neap | half Moon | − 20 % |
`;

/**
 * Answers as Exa does, on this machine, to whoever asks by way of its proxy. A run ends at its third poll.
 * @returns {Promise<{ proxy: string, close: () => void }>} `proxy`: for HTTPS_PROXY
 */
export async function doubleOfExa() {
  let polls = 0;
  let [query, createdAt] = ["", ""];
  const exa = createTlsServer({ cert: CERTIFICATE, key: CERTIFICATE_KEY }, async (request, response) => {
    const answer = (/** @type {number} */ status, /** @type {object} */ body) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    if (request.method === "POST") {
      let body = "";
      for await (const piece of request) body += piece;
      query = JSON.parse(body).query;
      createdAt = new Date().toISOString();
      return answer(200, { id: ID, object: "agent_run", status: "queued", createdAt, request: { query } });
    }
    if (!request.url?.includes(ID))
      return answer(404, { requestId: "r", error: "no such run", tag: "NOT_FOUND" });
    polls += 1;
    if (polls < 3) return answer(200, { id: ID, status: "running", createdAt, request: { query } });
    const output = { text: REPORT, structured: null, grounding: [{ field: "text", citations: SOURCES }] };
    const costDollars = { total: 0.1 };
    const run = { id: ID, status: "completed", createdAt, stopReason: "schema_satisfied" };
    return answer(200, { ...run, request: { query }, output, costDollars });
  }).listen(0, "127.0.0.1");
  const proxy = createServer().listen(0, "127.0.0.1");
  proxy.on("connect", (_request, socket) => {
    const out = connect(portOf(exa), "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      socket.pipe(out).pipe(socket);
    });
    for (const end of [socket, out]) end.on("error", () => end.destroy());
  });
  await Promise.all([once(exa, "listening"), once(proxy, "listening")]);
  const close = () => {
    proxy.close().closeAllConnections();
    exa.close().closeAllConnections();
  };
  return { proxy: `http://127.0.0.1:${portOf(proxy)}`, close };
}

/** @param {import("node:net").Server} server */
function portOf(server) {
  const address = server.address();
  return address && typeof address === "object" ? address.port : 0;
}
