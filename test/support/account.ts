import { History } from "../../src/client/store/history/history.js";
import type { Account } from "../../src/client/workflows/account.js";
import { findTarget } from "../../src/client/workflows/find-and-query-requests.js";
import { systemClock } from "../../src/core/clock.js";
import { folderWith } from "./folder.js";

/** Makes an account without a history, with these parts in place of its own. */
export function accountWith<Parts extends Partial<Account>>(parts: Parts): Account & Parts {
  const client = {} as Account["client"];
  const account: Account = {
    ...{ client, history: undefined, origin: "https://a.example", basePath: "", apiKey: "k", profile: null },
    ...{ unrecorded: false, outputField: "output", clock: systemClock },
  };
  return Object.defineProperties(account, Object.getOwnPropertyDescriptors(parts)) as Account & Parts;
}

/** Makes an account that has created a request, and a client that returns its result. */
export function accountWithRequest() {
  const history = new History(folderWith(), () => Date.now());
  const attempt = { origin: "https://a.example", profile: null, apiKey: "k", body: { prompt: "x" } };
  history.begin(attempt).recordCreated("id-1234", {});
  const client = { output: async () => ({ output: "x" }) } as unknown as Account["client"];
  const account = accountWith({ client, history });
  return { account, history, target: findTarget(account, "id-1234") };
}
