import type { ResearchClient } from "../client/client.js";
import type { Clock } from "../clock.js";
import type { History } from "../store/history/history.js";
import type { Ports } from "../workflows/ports.js";
import { type ResolvedSettings, requireBaseUrl, requireConnection } from "./settings.js";

/** What the ports are made of, each made on first use. */
interface Surroundings {
  readonly client: ResearchClient;
  readonly history: History | undefined;
  readonly settings: ResolvedSettings;
  readonly host: { readonly clock: Clock };
}

/** The settings in force as the workflows see them. Each member throws CliError when it is asked for and missing. */
export function portsOf(ctx: Surroundings): Ports {
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
