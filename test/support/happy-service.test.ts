import { expect, test } from "vitest";
import { HappyService, KEY } from "./happy-service.js";

async function call(
  service: HappyService,
  method: string,
  path: string,
  body?: object,
  key = KEY,
): Promise<Record<string, unknown>> {
  const response = await fetch(`${service.url}/api/v1/${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  const envelope = (await response.json()) as {
    data?: Record<string, string>;
    error?: { code: string };
  };
  return { http: response.status, ...envelope.data, code: envelope.error?.code };
}

test("a conversation goes through the states its prompt names, and gives its output at the end", async () => {
  const service = await HappyService.start();
  const { request_id: id } = await call(service, "POST", "conversations", {
    prompt: "x => PENDING COMPLETED",
  });
  const path = `conversation/${id}`;
  expect(await call(service, "GET", `${path}/output`)).toMatchObject({ code: "CONVERSATION_NOT_COMPLETED" });
  expect(await call(service, "GET", `${path}/status`)).toMatchObject({ request_id: id, status: "PENDING" });
  expect(await call(service, "GET", `${path}/status`)).toMatchObject({ status: "COMPLETED" });
  expect(await call(service, "GET", `${path}/output`)).toMatchObject({ http: 200, status: "COMPLETED" });
  expect(await call(service, "POST", `${path}/stop`)).toMatchObject({
    code: "CONVERSATION_ALREADY_COMPLETED",
  });
});

test("stop is for good, and refusals are those of the interface", async () => {
  const service = await HappyService.start();
  const id = service.add("x");
  expect(await call(service, "POST", `conversation/${id}/stop`)).toMatchObject({
    http: 200,
    status: "STOPPED",
  });
  expect(await call(service, "GET", `conversation/${id}/status`)).toMatchObject({ status: "STOPPED" });
  expect(await call(service, "GET", `conversation/${id}/output`)).toMatchObject({
    code: "OUTPUT_NOT_AVAILABLE",
  });
  expect(await call(service, "POST", "conversation/none/stop")).toMatchObject({
    http: 404,
    code: "REQUEST_NOT_FOUND",
  });
  expect(await call(service, "POST", "conversations", { prompt: " " })).toMatchObject({ http: 400 });
  expect(await call(service, "GET", `conversation/${id}/status`, undefined, "bad")).toMatchObject({
    http: 401,
  });
});
