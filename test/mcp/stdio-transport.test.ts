import { PassThrough, Writable } from "node:stream";
import type { JSONRPCMessage } from "@modelcontextprotocol/server";
import { describe, expect, test } from "vitest";
import { StdioTransport } from "../../src/mcp/stdio-transport.js";
import { jsonLines } from "../support/world.js";

/** A transport that is given these pieces, and nothing after them: what it passed on, and what it answered. */
async function given(...pieces: (string | Buffer)[]) {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const transport = new StdioTransport(stdin, stdout);
  const passed: JSONRPCMessage[] = [];
  transport.onmessage = (message) => void passed.push(message);
  const over = new Promise<void>((resolve) => {
    transport.onclose = resolve;
  });
  await transport.start();
  for (const piece of pieces) stdin.write(piece);
  stdin.end();
  await over;
  return { passed, answers: jsonLines((stdout.read() ?? "").toString()) };
}

describe("a line", () => {
  test.each<[string, string | number | null, number]>([
    ['{"broken', null, -32700],
    ["\u0000", null, -32700],
    ["[]", null, -32600],
    ["null", null, -32600],
    ['"text"', null, -32600],
    ['{"jsonrpc":"2.0","id":{}}', null, -32600],
    ['{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}', null, -32600],
    ['{"jsonrpc":"2.0","id":null,"method":"tools/list"}', null, -32600],
    ['{"jsonrpc":"1.0","id":"a","method":"tools/list"}', "a", -32600],
    ['{"jsonrpc":"2.0","id":7,"method":8}', 7, -32600],
    ['{"jsonrpc":"2.0","id":8,"method":8,"error":{}}', 8, -32600],
  ])("that is invalid is answered: %s", async (line, id, code) => {
    const { passed, answers } = await given(`${line}\n`);
    expect(passed).toEqual([]);
    expect(answers).toEqual([
      {
        jsonrpc: "2.0",
        id,
        error: { code, message: expect.stringMatching(/^(Parse error|Invalid Request): ./) },
      },
    ]);
  });

  test.each(["", " \r", '{"jsonrpc":"2.0","id":null,"error":{}}', '{"jsonrpc":"2.0","result":1}'])(
    "that is blank or an invalid answer is left alone: %j",
    async (line) => {
      expect(await given(`${line}\n`)).toEqual({ passed: [], answers: [] });
    },
  );

  test.each([
    { jsonrpc: "2.0", id: 1, method: "tools/list" },
    { jsonrpc: "2.0", method: "notifications/initialized" },
    { jsonrpc: "2.0", id: 1, result: {} },
    { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "a", arguments: { é: 1 } } },
  ] as const)("that is a message is passed on, however it is cut: %j", async (message) => {
    const bytes = Buffer.from(`${JSON.stringify(message)}\n`);
    const single = Array.from(bytes, (_, at) => bytes.subarray(at, at + 1));
    for (const pieces of [[bytes], single, [Buffer.concat([bytes, bytes])]]) {
      const { passed, answers } = await given(...pieces);
      expect(passed).toEqual(Array(pieces === single || pieces[0] === bytes ? 1 : 2).fill(message));
      expect(answers).toEqual([]);
    }
  });

  test.each([[[]], ["text"], [null], [1]])("whose arguments are %j has an object of them", async (wrong) => {
    const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "a", arguments: wrong } };
    const { passed } = await given(`${JSON.stringify(call)}\n`);
    expect(passed).toEqual([{ ...call, params: { name: "a", arguments: { arguments: wrong } } }]);
  });

  test("that has not ended when the input does is left alone", async () => {
    expect(await given('{"jsonrpc":"2.0","method":"a"}')).toEqual({ passed: [], answers: [] });
  });
});

test("what is sent is a line, and the caller is told when it is written", async () => {
  const stdout = new PassThrough();
  const transport = new StdioTransport(new PassThrough(), stdout);
  await transport.send({ jsonrpc: "2.0", method: "a" });
  await transport.send({ jsonrpc: "2.0", method: "b" });
  expect(stdout.read().toString()).toBe('{"jsonrpc":"2.0","method":"a"}\n{"jsonrpc":"2.0","method":"b"}\n');
});

test("an input that breaks closes the transport", async () => {
  const stdin = new PassThrough();
  const transport = new StdioTransport(stdin, new PassThrough());
  const over = new Promise<void>((resolve) => {
    transport.onclose = resolve;
  });
  await transport.start();
  stdin.destroy(new Error("EIO"));
  await over;
});

const MOST_BYTES = 16 << 20;

/** A notification of that many bytes, its line end not counted. */
function frameOf(bytes: number): string {
  const empty = '{"jsonrpc":"2.0","method":""}';
  return empty.replace('""', `"${"x".repeat(bytes - empty.length)}"`);
}

test.each(["\n", ""])(
  "16 MiB are read, each time; more closes the transport once (line end: %j)",
  async (end) => {
    const stdin = new PassThrough();
    const transport = new StdioTransport(stdin, new PassThrough());
    let [read, closed] = [0, 0];
    transport.onmessage = () => {
      read += 1;
    };
    const over = new Promise<void>((resolve) => {
      transport.onclose = () => {
        closed += 1;
        resolve();
      };
    });
    await transport.start();
    const largest = frameOf(MOST_BYTES);
    for (const piece of [
      largest.slice(0, 99),
      largest.slice(99),
      `\n${largest.slice(0, 9)}`,
      largest.slice(9),
      "\n",
    ])
      stdin.write(piece);
    const larger = frameOf(MOST_BYTES + 1);
    for (const piece of [larger.slice(0, 99), larger.slice(99) + end]) stdin.write(piece);
    await over;
    await transport.close();
    expect([read, closed, stdin.destroyed]).toEqual([2, 1, true]);
  },
);

test("an output that cannot be written closes the transport, and the caller is told", async () => {
  const broken = new Writable({ write: (_chunk, _encoding, done) => done(new Error("gone")) });
  const transport = new StdioTransport(new PassThrough(), broken);
  const over = new Promise<void>((resolve) => {
    transport.onclose = resolve;
  });
  await transport.start();
  await expect(transport.send({ jsonrpc: "2.0", method: "x" })).rejects.toThrow("gone");
  await over;
});
