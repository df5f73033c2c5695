import { expect, test } from "vitest";
import { answer, only, refuse } from "../support/behaviours.js";
import { HappyService } from "../support/happy-service.js";
import { screen } from "../support/screen.js";
import { world } from "../support/world.js";

// What a person reads, where it was said twice, wrongly or not at all.

test("a 429 says once how long to wait, as a person counts", async () => {
  const { research } = await world({
    fault: () => refuse(429, "RATE_LIMIT_EXCEEDED", { "Retry-After": "3583" }),
  });
  const { code, stderr } = await research(["create", "x"]);
  expect(code).toBe(7);
  expect(stderr).toContain("hint: Wait 59m 43s. With --wait-for-quota, create, run and rerun wait.\n");
  expect(stderr).not.toContain("3583");
});

test.each<[string, Record<string, string>, RegExp, string]>([
  [
    "a name that does not exist",
    { RESEARCH_BASE_URL: "https://no-such-host.invalid" },
    /^error: no-such-host\.invalid cannot be reached: its name (?:was not found|could not be looked up) \(getaddrinfo E[^\n]*\)$/m,
    "",
  ],
  [
    "a connection that is refused",
    { RESEARCH_BASE_URL: "http://127.0.0.1:1" },
    /^error: 127\.0\.0\.1:1 cannot be reached: the connection was refused \(connect ECONNREFUSED 127\.0\.0\.1:1\)$/m,
    "",
  ],
  [
    "a proxy that does not answer",
    { RESEARCH_BASE_URL: "https://a.example", HTTPS_PROXY: "http://127.0.0.1:1" },
    /^error: a\.example through the proxy http:\/\/127\.0\.0\.1:1 cannot be reached: the connection was refused \([^\n]*\)$/m,
    "",
  ],
  [
    "a certificate nobody signed",
    { RESEARCH_BASE_URL: "" },
    /^error: 127\.0\.0\.1:\d+ cannot be reached: its certificate is not trusted \([^\n]*\)$/m,
    "NODE_EXTRA_CA_CERTS names a file of certificates to trust. ",
  ],
  [
    "a provider's address without the provider",
    { RESEARCH_BASE_URL: "https://api.openai.com", HTTPS_PROXY: "http://127.0.0.1:1" },
    /^error: api\.openai\.com through the proxy .* cannot be reached/m,
    "This is OpenAI's own address: did you mean --provider openai? `research login openai` stores it; in CI set RESEARCH_PROVIDER=openai.",
  ],
])("%s: the host, what happened, and what to do", async (_, env, message, advice) => {
  const { server } = await HappyService.start({ tls: true });
  const url = env.RESEARCH_BASE_URL || `https://127.0.0.1:${server.port}`;
  const { code, stdout, stderr } = await world().then(({ research }) =>
    research(["create", "x"], { env: { ...env, RESEARCH_BASE_URL: url } }),
  );
  expect({ code, stdout }).toEqual({ code: 9, stdout: "" });
  expect(stderr).toMatch(message);
  const hint = stderr.split("\n").find((line) => line.startsWith("hint: "));
  const last = advice.startsWith("This is") ? "" : "`research doctor` finds the cause.";
  expect(hint).toBe(`hint: Nothing was created. ${advice}${last}`);
});

test("without a base URL the variable that CI needs is named", async () => {
  const { stderr, code } = await (await world()).research(["create", "x"], {
    env: { RESEARCH_BASE_URL: "" },
  });
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("RESEARCH_PROVIDER") });
});

test("a poll that fails is one sentence", async () => {
  const body = JSON.stringify({ status: false, version: "1.0.0", error_code: "BUSY", message: "Too busy." });
  const { research, service } = await world({
    fault: only("status", answer({ status: 503, body }), 1),
  });
  const { stderr } = await research(["watch", service.add("x => COMPLETED")]);
  expect(stderr).toMatch(/[^.]; polling goes on$/m);
});

test("the last line of an id that was not found gives no state", async () => {
  const { research } = await world();
  const id = "3c1f6d58-0f0b-4a8e-9b39-6d2a7c5e4f10";
  expect(await research(["watch", id])).toMatchObject({ code: 5, stdout: `${id}\t-\n` });
});

test("what FAILED says so once", async () => {
  const { research, service } = await world();
  const { stderr } = await research(["output", service.add("x => FAILED")]);
  expect(stderr.match(/FAILED/g)).toHaveLength(1);
});

test("config list is aligned on a terminal, tabs elsewhere, and says that a key is not in use", async () => {
  const { research, home, service } = await world();
  const noService = { RESEARCH_BASE_URL: undefined, RESEARCH_API_KEY: undefined };
  const { RESEARCH_API_KEY: input } = service.env;
  await research(["login", "--base-url", service.url, "--with-key"], { env: noService, input });
  const list = async (env: Record<string, string | undefined>) =>
    (await research(["config", "list"], { env: { ...noService, ...env } })).stdout.split("\n");
  expect((await list({})).find((line) => line.startsWith("api-key"))).toMatch(
    /^api-key\t…4242\tprofile default$/,
  );
  const elsewhere = await list({ RESEARCH_BASE_URL: "https://other.example" });
  expect(elsewhere.find((line) => line.startsWith("api-key"))).toBe(
    `api-key\t…4242\tprofile default, not in use: it is for ${service.url}`,
  );
  const program = screen(["config", "list"], { home, env: {} });
  await program.done;
  const lines = program.text().split("\n");
  const column = lines[0]?.indexOf("default") ?? 0;
  expect(column).toBeGreaterThan(10);
  for (const line of lines) expect(line.slice(column - 2, column + 1)).toMatch(/^ {2}\S$/);
});
