import { proxyFor } from "../../../../client/http/proxy-setting.js";
import { failureOf } from "../../../../machine/failure.js";
import type { Machine } from "../../../../machine/machine.js";
import { maskKey, requireBaseUrl, requireConnection } from "../../../../machine/settings.js";
import type { Host } from "../../../terminal/host.js";
import { type Check, ok } from "../check.js";
import { failed } from "../run-checks.js";

/** Where requests go, with which key, and by which way. */
export function configurationChecks(machine: Machine, { env }: Pick<Host, "env">): Check[] {
  const baseUrl = () => requireBaseUrl(machine.settings);
  return [
    {
      id: "base-url",
      needs: ["settings"],
      run: () => {
        try {
          const { href, protocol } = baseUrl();
          const source = machine.settings.baseUrl?.source ?? "";
          return ok(`${href} (${source})`, `${protocol}// (${source})`);
        } catch (error) {
          const failure = failureOf(error);
          return { ...failed(failure), fix: failure.hint ?? "research config set base-url URL" };
        }
      },
    },
    {
      id: "key",
      needs: ["base-url"],
      run: () => {
        const settings = machine.settings;
        const { apiKey } = requireConnection(settings);
        const source = settings.apiKey?.source ?? "";
        return ok(`${maskKey(apiKey)} (${source})`, "set");
      },
    },
    {
      id: "proxy",
      needs: ["base-url"],
      run: () => {
        const proxy = proxyFor(baseUrl(), env);
        return proxy ? ok(`through ${proxy.url.origin}`, "through a proxy") : ok("none", "none");
      },
    },
  ];
}
