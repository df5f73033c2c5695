import type { Context } from "../../command-context.js";
import { editProfile, findProfileToChange } from "../config/run.js";

export async function runLogout(ctx: Context): Promise<void> {
  const { name: profile, storedProfile } = findProfileToChange(ctx);
  if (!storedProfile?.["api-key"]) {
    await ctx.reporter.say(`no key is stored (profile ${profile})`);
    return;
  }
  await editProfile(ctx, profile, (stored) => {
    delete stored["api-key"];
    delete stored["api-key-origin"];
  });
  await ctx.reporter.say(`deleted the key of profile ${profile}`);
}
