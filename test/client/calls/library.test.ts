import { describe, expect, test } from "vitest";
import {
  BaseUrlError,
  NoOutputError,
  OutcomeUnknownError,
  RefusedError,
  ResearchClient,
  ResearchError,
  UnreachableError,
} from "../../../src/index.js";
import * as does from "../../support/behaviours.js";
import { type FaultServer, faultServer } from "../../support/fault-server.js";
import { KEY } from "../../support/happy-service.js";
import { leftovers } from "../../support/leftovers.js";
import { proxy } from "../../support/proxy.js";

const ID = "id-1";

async function clientAt(behaviour: does.Behaviour): Promise<{ client: ResearchClient; server: FaultServer }> {
  const server = await faultServer(() => behaviour);
  const client = new ResearchClient({ baseUrl: server.url, apiKey: KEY });
  leftovers.add(() => client.close());
  return { client, server };
}

describe("a signal that is aborted already sends nothing:", () => {
  test.each([
    ["create", (client: ResearchClient, signal: AbortSignal) => client.create({ prompt: "x" }, { signal })],
    ["status", (client: ResearchClient, signal: AbortSignal) => client.status(ID, { signal })],
    ["stop", (client: ResearchClient, signal: AbortSignal) => client.stop(ID, { signal })],
    ["output", (client: ResearchClient, signal: AbortSignal) => client.output(ID, { signal })],
    ["watch", (client: ResearchClient, signal: AbortSignal) => client.watch(ID, { signal }).next()],
  ])("%s", async (_name, call) => {
    const { client, server } = await clientAt(does.ok({ request_id: ID, status: "PENDING" }));
    await expect(call(client, AbortSignal.abort(new Error("enough")))).rejects.toThrow("enough");
    expect(server.connections).toBe(0);
  });
});

test.each([undefined, null, 7])("a key that is %j is a TypeError, and is never sent as text", (apiKey) => {
  const options = Object.assign({ baseUrl: "http://127.0.0.1:1", apiKey: "" }, { apiKey });
  expect(() => new ResearchClient(options)).toThrow(TypeError);
  expect(() => new ResearchClient(options)).toThrow(/^apiKey must be a string/);
});

test("so is a base URL", () => {
  const options = Object.assign({ baseUrl: "", apiKey: KEY }, { baseUrl: undefined });
  expect(() => new ResearchClient(options)).toThrow(/^baseUrl must be a string, but it is undefined/);
});

test.each([
  [new ResearchError("X", "x"), "ResearchError"],
  [new RefusedError("refused", true, "X", "x"), "RefusedError"],
  [new UnreachableError("X", "x"), "UnreachableError"],
  [new OutcomeUnknownError("x"), "OutcomeUnknownError"],
  [new NoOutputError("FAILED", new ResearchError("X", "x"), ID), "NoOutputError"],
  [new BaseUrlError("x"), "BaseUrlError"],
])("%s has its own name", (error, name) => {
  expect(error.name).toBe(name);
  expect(String(error)).toMatch(new RegExp(`^${name}: `));
});

test("an unknown outcome says itself that it must not be repeated", async () => {
  const { client } = await clientAt(does.reset());
  const error = await client.create({ prompt: "x" }).catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(OutcomeUnknownError);
  expect((error as Error).message).toMatch(/may or may not exist; do not repeat it/);
});

test("proxies are taken from the environment unless the caller gives another one", async () => {
  const server = await faultServer(() => does.ok({ request_id: ID, status: "PENDING" }));
  const through = await proxy(server.port);
  process.env.http_proxy = through.url;
  const options = { baseUrl: "http://research.example", apiKey: KEY, insecureHttp: true };
  const client = new ResearchClient(options);
  const direct = new ResearchClient({ ...options, baseUrl: server.url, proxyEnvironment: {} });
  delete process.env.http_proxy;
  for (const each of [client, direct]) leftovers.add(() => each.close());
  expect(await client.status(ID)).toMatchObject({ status: "PENDING" });
  expect(through.requests).toHaveLength(1);
  expect(await direct.status(ID)).toMatchObject({ status: "PENDING" });
  expect(through.requests).toHaveLength(1);
});
