import { systemClock } from "../../../../src/core/clock.js";
import { openLocalStore } from "../../../../src/server/conversations/local/open-local-store.js";
import { folderWith } from "../../../support/folder.js";
import { budgetContract } from "../budget-contract.js";
import { storeContract } from "../store-contract.js";

const common = { clock: systemClock, log: () => {} };

storeContract("in memory", {
  open: ({ pendingMs }) => openLocalStore({ ...common, pendingMs }),
  clock: systemClock,
  hasKeys: false,
  keepsExchanges: false,
});

storeContract("in a data folder", {
  open: ({ pendingMs }) => openLocalStore({ ...common, pendingMs, dataDir: folderWith() }),
  clock: systemClock,
  hasKeys: true,
  keepsExchanges: true,
});

let aheadMs = 0;
const clock = { ...systemClock, now: () => systemClock.now() + aheadMs };

budgetContract("in a data folder", {
  open: () => openLocalStore({ ...common, clock, pendingMs: 0, dataDir: folderWith() }),
  clock,
  async pass(hours) {
    aheadMs += hours * 3_600_000;
  },
});
