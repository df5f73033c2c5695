import type { Topic } from "../topic.js";

export const settings: Topic = {
  name: "settings",
  summary: "where settings come from, and which one wins",
  text: `Order: flag, profile named by --profile, environment, profile in use, default.
\`research config list\` and --verbose say which one won.

  base-url        the service to speak to (--base-url, RESEARCH_BASE_URL)
  api-key         the key; no flag takes one (RESEARCH_API_KEY,
                  RESEARCH_API_KEY_FILE)
  provider        openai, perplexity, exa, parallel, or research, the
                  interface itself (RESEARCH_PROVIDER)
  model           the model of a create at a provider (--model)
  set             fields of a create at a provider, a JSON object (--set)
  tier            free, pro or enterprise, for pacing (--tier, --per-hour)
  history         on or off (RESEARCH_NO_HISTORY=1)
  status-method   the HTTP method of status (GET)
  output-method   the HTTP method of output (GET)
  output-path     the path of output
                  (/api/v1/conversation/{request_id}/output)
  output-field    the field of the data that holds the result (output)

\`research login\` asks for the base URL and the key, tries the key, and stores
both. \`research config set SETTING VALUE\` stores one setting, \`research config
use PROFILE\` makes another profile the one in use.

A key is stored with the origin in force. It is never sent to another origin:
the command ends with 4 instead. Settings are kept in a file of mode 0600
(\`research config path\`), the history in $XDG_STATE_HOME/research or
RESEARCH_STATE_DIR. Nothing is ever read from the current folder that could
change where the key goes.
`,
};
