import { once } from "node:events";
import { renameSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { folderWith } from "../../support/folder.js";
import { InProcess, research } from "../../support/in-process.js";
import { environment } from "../../support/run.js";
import { post } from "../../support/wire.js";

const KEY = "test-key-0123456789";

/** A service with a folder that is away for five creates, and then there again; resolves when it has ended. */
async function troubled(...flags: string[]) {
  const dataDir = join(folderWith(), "data");
  const args = ["serve", "--port", "0", "--data", dataDir, ...flags];
  const env = environment(folderWith(), { RESEARCH_SERVE_API_KEY: KEY });
  const service = new InProcess(args, { env });
  const [baseUrl = ""] = await service.waitFor(/http:\/\/[\d.:]+/);
  const create = async () => (await post(baseUrl, "/api/v1/conversations", KEY, { prompt: "x" })).status;
  const statuses: number[] = [];
  renameSync(dataDir, `${dataDir}-away`);
  for (let n = 0; n < 5; n++) statuses.push(await create());
  renameSync(`${dataDir}-away`, dataDir);
  for (let n = 0; n < 2; n++) statuses.push(await create());
  service.signal("SIGTERM");
  expect((await service.done).code).toBe(0);
  expect(statuses).toEqual([503, 503, 503, 503, 503, 200, 200]);
  return service.stderr.trimEnd().split("\n");
}

const FAILED = /^create requests fail: The journal could not be written: .*ENOENT/;
const AGAIN = "create requests work again";

test("what goes wrong with the store is said once when it begins and once when it is over, without a flag", async () => {
  const lines = await troubled();
  const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z /;
  expect(lines.filter((line) => time.test(line)).map((line) => line.replace(time, ""))).toEqual([
    expect.stringMatching(new RegExp(FAILED.source.replace("^", "^error "))),
    `info ${AGAIN}`,
  ]);
});

test("with --log json stderr is JSON from its first line to its last", async () => {
  const lines = (await troubled("--log", "json", "--ui")).map((line) => JSON.parse(line));
  expect(lines[0]).toMatchObject({
    level: "info",
    message: expect.stringContaining("The page, for one browser"),
  });
  expect(lines.filter(({ level }) => level === "error")).toMatchObject([
    { message: expect.stringMatching(FAILED) },
  ]);
  expect(lines.filter(({ message }) => message === AGAIN)).toMatchObject([{ level: "info" }]);
  expect(lines.filter(({ status }) => status === 503)).toHaveLength(5);
});

test("a database that asks for a password, and gets none, ends the start, and leaves no connection open", async () => {
  const closed: Promise<unknown>[] = [];
  const server = createServer((socket) => {
    closed.push(once(socket, "close"));
    // AuthenticationSASL, and AuthenticationSASLContinue, for which the client needs the password.
    const steps: [number, string][] = [
      [10, "SCRAM-SHA-256\0\0"],
      [11, "r=x,s=eA==,i=4096"],
    ];
    socket.on("data", () => {
      const [kind = 0, text = ""] = steps.shift() ?? [];
      socket.write(Buffer.from([0x52, 0, 0, 0, 8 + text.length, 0, 0, 0, kind, ...Buffer.from(text)]));
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const url = `postgresql://someone@127.0.0.1:${port}/research`;
  const { code, stderr } = await research(["serve", "--database", url], {
    env: { RESEARCH_SERVE_API_KEY: KEY },
  });
  expect([code, stderr]).toEqual([12, expect.stringContaining("PGPASSWORD is not set")]);
  await Promise.all(closed);
  server.close();
});
