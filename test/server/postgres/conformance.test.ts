import { afterAll, beforeAll, describe, it } from "vitest";
import type { Service } from "../../../src/server/service.js";
import type { Target } from "../../conformance/http.js";
import { INTERFACE } from "../../conformance/interface.js";
import { LIMITED } from "../../conformance/limits.js";
import { LOCAL } from "../../conformance/local.js";
import { conformanceResearcher } from "../../support/conformance-researcher.js";
import { serviceStoreAt } from "../../support/postgres-store.js";
import { KEY, serviceFor } from "../../support/service.js";
import { sharedPostgres } from "../../support/shared-postgres.js";

const { postgres, newDatabase } = await sharedPostgres();

/** An API and a worker as two processes would be, at a new database. */
async function pair(tier: "enterprise" | "free"): Promise<{ target: Target; close: () => Promise<void> }> {
  const url = await newDatabase();
  const services: Service[] = [];
  for (const role of ["api", "worker"] as const) {
    const store = await serviceStoreAt(url, { role });
    services.push(await serviceFor({ store, role, tier, researcher: conformanceResearcher() }));
  }
  return {
    target: {
      baseUrl: services[0]?.baseUrl ?? "",
      key: KEY,
      statusMethod: "GET",
      patienceMs: 10_000,
      failing: "fail",
      lasting: "last",
    },
    close: async () => {
      for (const service of services) await service.close();
    },
  };
}

describe.skipIf(!postgres)("an API and a worker at PostgreSQL (needs PostgreSQL)", () => {
  let both: Awaited<ReturnType<typeof pair>>;
  beforeAll(async () => {
    both = await pair("enterprise");
  });
  afterAll(() => both.close());

  it.each(Object.entries({ ...INTERFACE, ...LOCAL }))("%s", async (_name, run) => {
    await run(both.target);
  });
});

describe.skipIf(!postgres)("their free tier (needs PostgreSQL)", () => {
  it.each(Object.entries(LIMITED))("%s", async (_name, run) => {
    const limited = await pair("free");
    try {
      await run({ ...limited.target, tier: "free" });
    } finally {
      await limited.close();
    }
  });
});
