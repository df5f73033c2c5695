import { PROVIDERS } from "../../../dialects/providers.js";
import type { Topic } from "../topic.js";

const rows = PROVIDERS.map(
  ({ name, modelWord, defaultModel, keyVariable }) =>
    `  ${name.padEnd(12)}${keyVariable.padEnd(20)}${defaultModel.padEnd(15)}${modelWord}\n`,
);

export const providers: Topic = {
  name: "providers",
  summary: "your own account at OpenAI, Perplexity, Exa or Parallel",
  text: `\`research login --provider NAME\` stores a provider and its key in the profile in
use. From then on every command speaks to that provider directly. This is
written from the vendors' documentation, not yet tried on a live account.

  provider    variable            default        --model names its
${rows.join("")}
A create is sent once. If no readable answer comes back, it may exist and be
paid for: exit code 11, and it is never sent again by itself. Look at the
provider's own page, then settle it with \`research resolve\`.

--model and --set NAME=VALUE (a field of the provider's own request) make
another request of the same prompt. --after ID follows up on a request.
--dry-run prints the request as it would be sent.

  stop        openai and exa stop at once, perplexity a little later;
              parallel has no way to stop: 6, and the run is paid for
  schema      each has its own field; what its documentation refuses is
              refused here (2). The result is checked here in every case
  no money    6 (NO_CREDIT), whatever the provider calls it; a batch sends
              nothing more, and goes on later by the same command
  cut short   3; \`research output --partial ID\` prints what there is
  limits      they have no tiers: --per-hour N is a limit of your own

A result is kept beside the history for 30 days, since a provider may forget it
after ten minutes. The provider's own variable is the last source of a key, and
is sent to that provider's own origin only.
`,
};
