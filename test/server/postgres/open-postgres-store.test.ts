import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../../src/core/clock.js";
import { Database, loadDriver } from "../../../src/server/postgres/database.js";
import { MIGRATIONS, migrateSchema } from "../../../src/server/postgres/migrations.js";
import { ServiceStartError } from "../../../src/server/start-error.js";
import { folderWith } from "../../support/folder.js";
import { query } from "../../support/postgres.js";
import { PostgresProxy } from "../../support/postgres-proxy.js";
import { callerOf, closeStores, newJob, storeAt } from "../../support/postgres-store.js";
import { sharedPostgres } from "../../support/shared-postgres.js";

const { postgres, newDatabase } = await sharedPostgres();
const never = new AbortController().signal;

afterEach(closeStores);

async function refusal(opening: Promise<unknown>): Promise<string> {
  const error = await opening.then(
    () => undefined,
    (reason) => reason,
  );
  expect(error).toBeInstanceOf(ServiceStartError);
  return error.message;
}

/** The schema of a later program. */
async function bringTo(url: string, version: number, oldestProgram: number): Promise<void> {
  const database = new Database({
    ...{ driver: await loadDriver(), url, clock: systemClock, connections: 4, log: () => {} },
  });
  const client = await database.connect();
  const sql = `ALTER TABLE research.conversations ADD COLUMN added_${version} text`;
  await migrateSchema(client, [...MIGRATIONS, { version, oldestProgram, sql }]);
  await client.end();
  await database.close();
}

const next = (MIGRATIONS.at(-1)?.version ?? 0) + 1;

describe.skipIf(!postgres)("opening a database (needs PostgreSQL)", () => {
  let url: string;
  beforeEach(async () => {
    url = await newDatabase();
  });

  it("eight processes at once make one schema", async () => {
    await Promise.all(Array.from({ length: 8 }, () => storeAt(url)));
    expect(await query(url, "SELECT version FROM research.schema")).toEqual([{ version: next - 1 }]);
  });

  it("a program works on while and after a newer one changes the schema", async () => {
    const running = await storeAt(url);
    const [before, after] = [newJob(), newJob()];
    await running.create(callerOf(), before);
    await bringTo(url, next, next - 1);
    const started = await storeAt(url);
    await started.create(callerOf(), after);
    for (const job of [before, after]) {
      const claim = await running.claim(never);
      expect(claim.job).toEqual(job);
      expect(await running.end(claim, { status: "COMPLETED", output: "1" })).toBe(true);
      expect(await started.output(callerOf(), job.request_id)).toMatchObject({ output: "1" });
    }
  });

  it("a schema that needs a newer program is not touched, and the sentence says what to do", async () => {
    await storeAt(url);
    await bringTo(url, next, next);
    expect(await refusal(storeAt(url))).toMatch(
      /schema version \d+, and this program knows version \d+\. Install/,
    );
  });

  it.each([
    ["without a digest", "ALTER TABLE research.schema DROP COLUMN digest"],
    ["with another digest", "UPDATE research.schema SET digest = 'other'"],
  ])("a schema of an unreleased build (%s) is refused, and not touched", async (_, change) => {
    await storeAt(url);
    await closeStores();
    await query(url, change);
    const before = await query(url, "SELECT * FROM research.schema");
    for (const role of ["api", "worker"] as const)
      expect(await refusal(storeAt(url, { role }))).toMatch(
        /unreleased build.*Start that build again, name an empty database, or .*DROP SCHEMA research CASCADE/,
      );
    expect(await query(url, "SELECT * FROM research.schema")).toEqual(before);
  });

  it("a step whose comments were reworded since is still the same step", async () => {
    await storeAt(url);
    const reworded = MIGRATIONS.map((step) => ({ ...step, sql: `-- Other words.\n\n${step.sql}` }));
    const database = new Database({
      ...{ driver: await loadDriver(), url, clock: systemClock, connections: 4, log: () => {} },
    });
    const client = await database.connect();
    await migrateSchema(client, reworded);
    await client.end();
    await database.close();
  });

  it("PostgreSQL 14 is refused", async () => {
    const proxy = new PostgresProxy(await newDatabase());
    proxy.replace(/1[5-9]\d{4}(?=C)/, "140012");
    expect(await refusal(storeAt(proxy.url))).toBe(
      "The database runs on PostgreSQL 14; PostgreSQL 15 or later is needed.",
    );
  });

  it("a database that cannot be reached or does not exist is named as such, and by its address, not by the rest of its URL", async () => {
    const nowhere = new URL(await newDatabase());
    nowhere.password = "hunter2";
    nowhere.pathname = "/nowhere";
    const missing = await refusal(storeAt(nowhere.href));
    expect(missing).toBe("The database cannot be used: it has no database of that name.");
    const folder = folderWith();
    nowhere.searchParams.set("host", folder);
    expect(await refusal(storeAt(nowhere.href))).toContain(`no server has a socket at ${folder}`);
    const refused = await refusal(storeAt("postgresql://user:hunter2@127.0.0.1:1/secretname"));
    expect(refused).toBe("The database cannot be used: the connection to 127.0.0.1:1 was refused.");
  });

  it("a process with another key or other limits does not start beside the others", async () => {
    await (await storeAt(url)).agreeOn("key-a pro");
    await (await storeAt(url, { role: "api" })).agreeOn("key-a pro");
    const other = await storeAt(url, { role: "api" });
    expect(await refusal(other.agreeOn("key-a free"))).toMatch(/other hourly limits/);
    await closeStores();
    await (await storeAt(url)).agreeOn("key-a free");
  });
});
