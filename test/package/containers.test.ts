import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { folderWith } from "../support/folder.js";
import { research } from "../support/in-process.js";

const root = join(import.meta.dirname, "../..");
const dockerfile = readFileSync(join(root, "deploy/Dockerfile"), "utf8");
const compose = parse(readFileSync(join(root, "deploy/compose.yaml"), "utf8"), { merge: true });
const instructions = dockerfile
  .replaceAll(/\\\n/g, " ")
  .split("\n")
  .filter((line) => line !== "" && !line.startsWith("#"))
  .map((line) => ({ name: line.split(" ")[0], rest: line.slice(line.indexOf(" ") + 1).trim() }));

interface Service {
  command: string[];
  environment: Record<string, string>;
  depends_on: unknown;
  deploy?: { replicas: number };
}
const ours: [string, Service][] = ["api-1", "api-2", "worker"].map((name) => [name, compose.services[name]]);

describe("Dockerfile", () => {
  it("ends as a user that is not root, with a command that the program understands", async () => {
    const last = (name: string) => instructions.findLast((each) => each.name === name)?.rest ?? "";
    expect(last("USER")).toBe("node");
    expect(last("VOLUME")).toBe("/data");
    expect(JSON.parse(last("ENTRYPOINT"))).toEqual(["research"]);
    // The flags are read before the database and the folder cannot be used together.
    const { stderr } = await research(JSON.parse(last("CMD")), {
      env: { RESEARCH_SERVE_DATABASE: "postgresql://db/x" },
    });
    expect(stderr).toContain("--data and RESEARCH_SERVE_DATABASE cannot be used together");
  });

  it("copies what is there, and runs on a Node that the package supports", () => {
    for (const { rest } of instructions.filter(({ name }) => name === "COPY")) {
      if (rest.startsWith("--from")) continue;
      for (const path of rest.split(/\s+/).slice(0, -1))
        expect(existsSync(join(root, path)), path).toBe(true);
    }
    for (const { rest } of instructions.filter(({ name }) => name === "FROM")) {
      expect(Number(/^node:(\d+)-slim/.exec(rest)?.[1])).toBeGreaterThanOrEqual(20);
    }
  });
});

describe.each(["api", "worker"])("research-%s.service", (role) => {
  const path = join(root, `deploy/research-${role}.service`);
  const unit = readFileSync(path, "utf8");
  const [, program = "", flags = ""] = /^ExecStart=(\S+) (.*)$/m.exec(unit) ?? [];

  it("starts a command that the program understands, without a password in it", async () => {
    const args = flags.replace(/ --database \S+/, "").split(" ");
    const { code, stderr } = await research(args, { env: { RESEARCH_SERVE_DATABASE: "none" } });
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining("RESEARCH_SERVE_DATABASE is not a PostgreSQL URL"),
    ]);
    expect(args).toContain(role);
    const [, url = ""] = / --database (\S+)/.exec(flags) ?? [];
    expect(new URL(url).password).toBe("");
    expect(unit).toMatch(/^Type=exec$/m);
    expect(unit).toMatch(/^TimeoutStopSec=20$/m);
    expect(unit).toMatch(/^LoadCredential=pgpass:/m);
  });

  it.skipIf(!existsSync("/usr/bin/systemd-analyze"))("is valid (needs systemd-analyze)", () => {
    const copy = join(folderWith({}), `research-${role}.service`);
    writeFileSync(copy, unit.replace(program, process.execPath));
    const { status, stdout, stderr } = spawnSync("systemd-analyze", ["verify", copy], { encoding: "utf8" });
    expect([status, stdout, stderr]).toEqual([0, "", ""]);
  });
});

const hasPromtool = spawnSync("promtool", ["--version"]).status === 0;

describe.skipIf(!hasPromtool)("prometheus-rules.yaml (needs promtool)", () => {
  const rules = join(root, "deploy/prometheus-rules.yaml");
  const names = parse(readFileSync(rules, "utf8")).groups.flatMap((group: { rules: { alert: string }[] }) =>
    group.rules.map(({ alert }) => alert),
  );
  const requests = (code: string) => `research_requests_total{code="${code}"}`;
  const ended = (status: string) => `research_duration_seconds_count{status="${status}"}`;
  const api = { instance: "api-1", job: "research" };

  /** What each alert says after an hour of the first series; nothing after an hour of the second. */
  const cases: [alert: string, says: string, bad: Record<string, string>, well: Record<string, string>][] = [
    ["ResearchProcessGone", "api-1 does not answer", { up: "0x60" }, { up: "1x60" }],
    [
      "ResearchStoreAway",
      "api-1 cannot read its store: creates are answered 503",
      { research_store_up: "0x60" },
      { research_store_up: "1x60" },
    ],
    [
      "ResearchNoWorker",
      "no process does research",
      { research_workers: "0x60" },
      { research_workers: "1x60" },
    ],
    [
      "ResearchQueueWaits",
      "the oldest conversation has waited for 1h 0m 0s",
      { research_queue_head_age_seconds: "0+60x60" },
      { research_queue_head_age_seconds: "1800x60" },
    ],
    [
      "ResearchErrors",
      "2% of all requests are answered 5xx",
      { [requests("200")]: "0+98x60", [requests("503")]: "0+2x60" },
      { [requests("200")]: "0+1000x60", [requests("503")]: "0+2x60", [requests("404")]: "0+500x60" },
    ],
    [
      "ResearchFailing",
      "more than half of all research ends FAILED",
      { [ended("FAILED")]: "0+2x60", [ended("COMPLETED")]: "0+1x60" },
      { [ended("FAILED")]: "0+1x60", [ended("COMPLETED")]: "0+1x60" },
    ],
    [
      "ResearchLeasesLost",
      "api-1 lost its lease: it hung, or the database was away for longer than --lease",
      { research_leases_lost: "0x55 1x10" },
      { research_leases_lost: "3x60" },
    ],
    [
      "ResearchConnectionsUsedUp",
      "api-1 waits for connections: raise --connections, or look for a lock",
      { research_database_connections_waiting: "1x60" },
      { research_database_connections_waiting: "1x3 0x60" },
    ],
    [
      "ResearchUpstreamRefuses",
      "the upstream takes no creates: the log and each 429 name its last refusal, and accepted conversations wait",
      { research_upstream_refuses: "1x60" },
      { research_upstream_refuses: "0x60" },
    ],
    [
      "ResearchNotStoppedThere",
      "requests at the upstream could not be stopped, and may be paid for",
      { research_cancellations_pending: "2x60" },
      { research_cancellations_pending: "1x5 0x60" },
    ],
    [
      "ResearchEventLoopLags",
      "api-1 is busy for half a second at a time",
      { nodejs_eventloop_lag_p99_seconds: "0.7x60" },
      { nodejs_eventloop_lag_p99_seconds: "0.4x60" },
    ],
  ];

  it("each alert fires when it should, and not while all is well", () => {
    expect(cases.map(([name]) => name)).toEqual(names);
    const label = JSON.stringify(api).replaceAll(/"(\w+)":/g, "$1=");
    const series = (values: Record<string, string>) =>
      Object.entries(values).map(([name, values]) => ({
        series: name.includes("{") ? name.replace("{", `${label.slice(0, -1)},`) : `${name}${label}`,
        values,
      }));
    const at = (alertname: string, exp_alerts: unknown[]) => [{ eval_time: "1h", alertname, exp_alerts }];
    const tests = cases.flatMap(([name, summary, bad, well]) => [
      {
        ...{ name, interval: "1m", input_series: series(bad) },
        alert_rule_test: at(name, [
          { exp_labels: summary.startsWith("api-1") ? api : {}, exp_annotations: { summary } },
        ]),
      },
      { name, interval: "1m", input_series: series(well), alert_rule_test: at(name, []) },
    ]);
    const file = join(folderWith({}), "test.yaml");
    writeFileSync(file, JSON.stringify({ rule_files: [rules], tests }));
    const { status, stdout, stderr } = spawnSync("promtool", ["test", "rules", file], { encoding: "utf8" });
    expect([status, stdout + stderr]).toEqual([0, expect.stringContaining("SUCCESS")]);
  });
});

describe("compose.yaml", () => {
  it("names files that are there, from the folder in which it stands", () => {
    const { build, volumes } = compose.services.worker;
    const context = join(root, "deploy", build.context);
    expect(existsSync(join(context, build.dockerfile))).toBe(true);
    expect(existsSync(join(context, "package.json"))).toBe(true);
    const [, sources = ""] = /:-([^}]+)\}/.exec(volumes[0]) ?? [];
    expect(existsSync(join(root, "deploy", sources))).toBe(true);
  });

  it("has PostgreSQL, two APIs behind a proxy, and two workers", () => {
    expect(compose.services.database.image).toMatch(/^postgres:1[5-9]/);
    expect(compose.services.worker.deploy.replicas).toBe(2);
    const caddyfile = compose.configs.caddyfile.content;
    for (const [name, { command }] of ours) {
      const isApi = command.includes("--role=api");
      expect(isApi).toBe(name.startsWith("api"));
      expect(caddyfile.includes(`${name}:8787`)).toBe(isApi);
      expect(command.some((flag) => flag.startsWith("--allow-host="))).toBe(isApi);
    }
    // Prometheus reaches each of them, and sends a token.
    for (const [, { command, environment }] of ours) {
      expect(command).toContain("--host=0.0.0.0");
      expect(environment.RESEARCH_SERVE_METRICS_TOKEN).toMatch(/^\$\{METRICS_TOKEN:-\}$/);
    }
    expect(caddyfile).toContain("fail_duration");
    expect(caddyfile.split("{").length).toBe(caddyfile.split("}").length);
  });

  it.each(ours)(
    "%s: the program understands its flags, and none of them holds a password",
    async (_, service) => {
      const args = service.command.map((flag) => flag.replace(/\$\{\w+:-([^}]*)\}/, "$1"));
      const { code, stderr } = await research(args, { env: { RESEARCH_SERVE_DATABASE: "none" } });
      expect(stderr).toContain("RESEARCH_SERVE_DATABASE is not a PostgreSQL URL");
      expect(code).toBe(2);
      expect(args.join(" ")).not.toMatch(/password/i);
      expect(service.environment.PGPASSWORD).toMatch(/^\$\{DATABASE_PASSWORD:\?/);
      expect(new URL(service.environment.RESEARCH_SERVE_DATABASE ?? "")).toMatchObject({
        hostname: "database",
        password: "",
      });
      expect(service.depends_on).toEqual({ database: { condition: "service_healthy" } });
    },
  );
});
