import { DEFAULT_PROFILE, type Profile, type Store } from "../../../store/settings.js";
import type { Context } from "../../context.js";
import { UsageError } from "../../errors.js";

/** The profile that a command changes. It need not exist yet. Throws UsageError for a name that is none. */
export function profileName(ctx: Context, store: Store): string {
  const name = ctx.flags.profile || ctx.host.env.RESEARCH_PROFILE || store.profile || DEFAULT_PROFILE;
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name) || name in {}) {
    throw new UsageError(
      `${JSON.stringify(name)} is no name for a profile`,
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
