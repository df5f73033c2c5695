import type { Topic } from "./topic.js";
import { agents } from "./topics/agents.js";
import { environment } from "./topics/environment.js";
import { exitCodes } from "./topics/exit-codes.js";
import { json } from "./topics/json.js";
import { limits } from "./topics/limits.js";
import { polling } from "./topics/polling.js";
import { providers } from "./topics/providers.js";
import { settings } from "./topics/settings.js";

/** Every topic of `research help`, in the order in which it lists them. */
export const TOPICS: readonly Topic[] = [
  exitCodes,
  environment,
  settings,
  json,
  polling,
  limits,
  providers,
  agents,
];
