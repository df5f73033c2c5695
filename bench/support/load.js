#!/usr/bin/env node
// Sixteen connections, each with the next request as soon as the last one is answered; bare sockets, because a client
// takes more processor time than the service does. Prints answers a second, and its own processor seconds.
// Arguments: method, URL, seconds, body.
import { once } from "node:events";
import { connect } from "node:net";

const [method = "GET", target = "", seconds = "5", body = ""] = process.argv.slice(2);
const { host, hostname, port, pathname } = new URL(target);
const request = Buffer.from(
  [
    `${method} ${pathname} HTTP/1.1`,
    `Host: ${host}`,
    `Authorization: Bearer ${process.env.RESEARCH_API_KEY}`,
    ...(body ? ["Content-Type: application/json", `Content-Length: ${Buffer.byteLength(body)}`] : []),
    `\r\n${body}`,
  ].join("\r\n"),
);
const END_OF_HEAD = Buffer.from("\r\n\r\n");
const end = performance.now() + Number(seconds) * 1_000;
let answers = 0;
await Promise.all(
  Array.from({ length: 16 }, async () => {
    const socket = connect(Number(port), hostname).setNoDelay();
    /**
     * Bytes of the answer that are still to come; undefined before its head.
     * @type {number | undefined}
     */
    let left;
    let head = Buffer.alloc(0);
    socket.on("data", (chunk) => {
      let bytes = chunk.length;
      if (left === undefined) {
        head = head.length === 0 ? chunk : Buffer.concat([head, chunk]);
        const body = head.indexOf(END_OF_HEAD);
        if (body === -1) return;
        const text = head.toString("latin1", 0, body);
        if (!text.startsWith("HTTP/1.1 200")) throw new Error(text);
        left = Number(/content-length: (\d+)/i.exec(text)?.[1]);
        bytes = head.length - body - END_OF_HEAD.length;
        head = Buffer.alloc(0);
      }
      left -= bytes;
      if (left > 0) return;
      left = undefined;
      answers++;
      if (performance.now() < end) socket.write(request);
      else socket.end();
    });
    socket.write(request);
    await once(socket, "close");
  }),
);
const { user, system } = process.cpuUsage();
process.stdout.write(`${answers / Number(seconds)} ${(user + system) / 1e6}\n`);
