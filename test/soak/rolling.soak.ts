import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { Cluster, type Member } from "../support/cluster.js";
import { folderWith } from "../support/folder.js";
import { leftovers } from "../support/leftovers.js";
import { query, testPostgres } from "../support/postgres.js";
import { KEY } from "../support/service.js";
import { post } from "../support/wire.js";

const { postgres, newDatabase } = await testPostgres();
const hasCaddy = await new Promise<boolean>((resolve) => {
  spawn("caddy", ["version"], { stdio: "ignore" })
    .once("error", () => resolve(false))
    .once("exit", (code) => resolve(code === 0));
});
const RESTARTS = Number(process.env.RESTARTS ?? 20);
const CLIENTS = 8;

/** The proxy's settings as compose.yaml has them, for these addresses. */
function caddyfile(port: number, apis: readonly string[]): string {
  const compose = readFileSync(join(import.meta.dirname, "../../deploy/compose.yaml"), "utf8");
  const [, own = ""] = /caddyfile:\n {4}content: \|\n([\s\S]*?)\n\n/.exec(compose) ?? [];
  const site = own
    .replace(":8080", `http://127.0.0.1:${port}`)
    .replace("api-1:8787 api-2:8787", apis.join(" "));
  return `{\n admin off\n auto_https off\n}\n${site}\n`;
}

describe.skipIf(!postgres || !hasCaddy)("rolling restarts behind Caddy (needs PostgreSQL and caddy)", () => {
  it(`${RESTARTS} of two APIs under load: no create is cut, and each is there once`, async () => {
    const url = await newDatabase();
    const cluster = new Cluster(url, { lease: "6s", researcher: "cat > /dev/null; sleep 300" });
    const apis: Member[] = [await cluster.add("api"), await cluster.add("api")];
    const hosts = apis.map(({ baseUrl }) => new URL(baseUrl).host);
    const [port, folder] = [18_080 + (process.pid % 1_000), folderWith()];
    writeFileSync(join(folder, "Caddyfile"), caddyfile(port, hosts));
    const caddy = spawn("caddy", ["run", "--config", join(folder, "Caddyfile"), "--adapter", "caddyfile"], {
      env: { PATH: process.env.PATH, HOME: folder },
      stdio: "ignore",
    });
    leftovers.add(() => caddy.kill("SIGKILL"));
    const proxy = `http://127.0.0.1:${port}`;
    await sleep(5_000);
    let over = false;
    const answers = new Map<number | string, number>();
    const ids = new Set<string>();
    const client = async () => {
      while (!over) {
        const answer = await post(proxy, "/api/v1/conversations", KEY, { prompt: "x" }).catch(
          (error) => error,
        );
        // Whose refusal it is: ours is in an envelope, that of the proxy has no body.
        const what = answer.status === 200 ? 200 : `${answer.status ?? answer.code} ${answer.text ?? answer}`;
        answers.set(what, (answers.get(what) ?? 0) + 1);
        if (answer.status === 200) ids.add(String(answer.json.data?.request_id));
        await sleep(20);
      }
    };
    const clients = Array.from({ length: CLIENTS }, client);
    for (let n = 0; n < RESTARTS; n++) {
      const turn = n % 2;
      await cluster.end(apis[turn] as Member, "SIGTERM");
      apis[turn] = await cluster.add("api", Number(hosts[turn]?.split(":")[1]));
      // Until the proxy has seen that it is back.
      await sleep(5_000);
    }
    over = true;
    await Promise.all(clients);
    caddy.kill();
    await cluster.close();
    process.stdout.write(`answers: ${JSON.stringify([...answers])}\n`);
    const rows = await query(url, "SELECT request_id FROM research.conversations");
    // Caddy 2.6 refuses a POST itself, with 503 and no body, if it takes no API for healthy just then: nothing was sent.
    expect([...answers.keys()].filter((what) => what !== 200 && what !== "503 ")).toEqual([]);
    expect(answers.get("503 ") ?? 0).toBeLessThan(ids.size / 1_000);
    expect(rows.length).toBe(ids.size);
    expect(ids.size).toBeGreaterThan(100 * RESTARTS);
  }, 1_200_000);
});
