import { systemClock } from "../../../../src/core/clock.js";
import { openLocalStore } from "../../../../src/server/conversations/local/open-local-store.js";
import { folderWith } from "../../../support/folder.js";
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
