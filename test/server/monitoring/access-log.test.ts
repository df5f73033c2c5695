import { expect, it } from "vitest";
import { jsonLine, textLine } from "../../../src/server/monitoring/access-log.js";
import { KEY, serviceFor, until } from "../../support/service.js";
import { ask, post } from "../../support/wire.js";

const exchange = {
  at: Date.UTC(2030, 0, 1),
  method: "GET",
  path: "/a",
  status: 200,
  durationMs: 1.234,
  keyName: "alice",
  requestId: "r-1",
};

it("a line of text, with - for what there is none of", () => {
  expect(textLine(exchange)).toBe("2030-01-01T00:00:00.000Z GET /a 200 1.2 ms alice r-1");
  const { at, method, path, durationMs } = exchange;
  expect(textLine({ at, method, path, durationMs })).toBe("2030-01-01T00:00:00.000Z GET /a - 1.2 ms - -");
});

it("a line of JSON, with null for what there is none of", () => {
  const { at, method, path, durationMs } = exchange;
  expect(JSON.parse(jsonLine(exchange))).toEqual({
    ...{ time: "2030-01-01T00:00:00.000Z", method: "GET", path: "/a", status: 200, ms: 1.2 },
    ...{ key: "alice", request_id: "r-1" },
  });
  expect(JSON.parse(jsonLine({ at, method, path, durationMs }))).toMatchObject({
    ...{ status: null, key: null, request_id: null },
  });
});

it("each request has one, without its query, its key and its prompt", async () => {
  const lines: string[] = [];
  const accessLog = { format: "text" as const, write: (line: string) => void lines.push(line) };
  const service = await serviceFor({ accessLog });
  try {
    const created = await post(service.baseUrl, "/api/v1/conversations?token=secret", KEY, {
      prompt: "a private question",
    });
    const id = created.json.data?.request_id;
    await ask(service.baseUrl, { path: `/api/v1/conversation/${id}/status`, key: "wrong" });
    await ask(service.baseUrl, { path: `/${KEY}`, key: KEY });
    await ask(service.baseUrl, { path: "/%1B[31m\u00ad", headers: { Host: "elsewhere" } }).catch(() => {});
    await until(async () => (lines.length >= 3 ? true : undefined));
    const [first = "", second = "", third = ""] = lines;
    expect(first).toMatch(new RegExp(`^\\S+Z POST /api/v1/conversations 200 [\\d.]+ ms - ${id}\n$`));
    expect(second).toMatch(new RegExp(` GET /api/v1/conversation/${id}/status 401 [\\d.]+ ms - ${id}\n$`));
    expect(third).toMatch(/ GET \/\[key\] 404 /);
    expect(lines.join("")).not.toMatch(new RegExp(`secret|private|${KEY}`));
  } finally {
    await service.close();
  }
});
