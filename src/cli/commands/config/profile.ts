import { UsageError } from "../../../machine/errors.js";
import { baseUrlIn, profileIn } from "../../../machine/precedence.js";
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

/** The base URL in force for a profile that a command changes, as text; undefined if none is configured. */
export function baseUrlOf(ctx: Context, store: Store, profile: string): string | undefined {
  const own = Object.hasOwn(store.profiles, profile) ? store.profiles[profile]?.["base-url"] : undefined;
  return baseUrlIn(ctx.flags, ctx.host.env, own ? { value: own, source: `profile ${profile}` } : undefined)
    ?.value;
}
