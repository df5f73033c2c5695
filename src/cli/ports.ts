import type { Ports } from "../workflows/ports.js";
import type { Context } from "./context.js";
import { requireBaseUrl, requireConnection } from "./settings.js";

/** The settings in force as the workflows see them. Each member throws CliError when it is asked for and missing. */
export function portsOf(ctx: Pick<Context, "client" | "history" | "settings" | "host">): Ports {
  return {
    get client() {
      return ctx.client;
    },
    get origin() {
      return requireBaseUrl(ctx.settings).origin;
    },
    get apiKey() {
      return requireConnection(ctx.settings).apiKey;
    },
    get profile() {
      const { source, value } = ctx.settings.profile;
      return source === "default" ? null : value;
    },
    get history() {
      return ctx.history;
    },
    get unrecorded() {
      return ctx.settings.history.value === "off";
    },
    get outputField() {
      return ctx.settings.gaps.outputField.value;
    },
    clock: ctx.host.clock,
  };
}
