import { UsageError } from "../../../machine/errors.js";
import { profileIn, type Site, siteIn } from "../../../machine/precedence.js";
import type { Profile, Store } from "../../../store/settings.js";
import type { Context } from "../../context.js";

/** The profile that a command changes. It need not exist yet. Throws UsageError for an invalid name. */
export function profileName(ctx: Context, store: Store): string {
  const name = profileIn(ctx.flags, ctx.host.env, store).value;
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name) || name in {}) {
    throw new UsageError(
      `invalid name for a profile: ${JSON.stringify(name)}`,
      "Use letters, digits, `.`, `_` and `-`.",
    );
  }
  return name;
}

/** Changes one profile of the stored settings. Throws LocalError; then the old settings stand. */
export async function editProfile(
  ctx: Context,
  name: string,
  edit: (stored: Profile) => void,
): Promise<void> {
  await ctx.store.update((stored) => {
    const profile = stored.profiles[name] ?? {};
    edit(profile);
    stored.profiles[name] = profile;
  });
}

/** The service in force for a profile that a command changes; its base URL is undefined if none is configured. */
export function siteOf(ctx: Context, store: Store, profile: string): Site {
  const own = Object.hasOwn(store.profiles, profile) ? store.profiles[profile] : undefined;
  const sourced = (value: string | undefined) =>
    value ? { value, source: `profile ${profile}` } : undefined;
  return siteIn(ctx.flags, ctx.host.env, {
    baseUrl: sourced(own?.["base-url"]),
    provider: sourced(own?.provider),
  });
}
