const EXAMPLE = "postgresql://user@host:5432/database";
const PASSWORD_PARAMETER = /pass(?:word|wd)|^pwd$/i;

/** What is wrong with a database URL, without repeating it. A process list shows a password in an argument. */
export function findUrlProblem(text: string, from: "argument" | "variable"): string | undefined {
  const url = parseUrl(text);
  const valid = url && /^postgres(?:ql)?:$/.test(url.protocol) && url.hash === "";
  if (!valid) return `is not a PostgreSQL URL such as ${EXAMPLE}`;
  if (from === "variable" || !hasPassword(url)) return undefined;
  return (
    "holds a password, and every user of this machine can read it there: " +
    "give the password in PGPASSWORD or ~/.pgpass, or the whole URL in RESEARCH_SERVE_DATABASE"
  );
}

function hasPassword(url: URL): boolean {
  if (url.password !== "" || /%3a/i.test(url.username)) return true;
  return [...url.searchParams.keys()].some((name) => PASSWORD_PARAMETER.test(name));
}

/** A URL may leave the host out (`postgresql:///db?host=/run/postgresql`), also with a user, which URL refuses. */
function parseUrl(text: string): URL | undefined {
  const named = text.replace(/^(postgres(?:ql)?:\/\/[^/?#]*@)(?=[/?]|$)/i, "$1localhost");
  const valid = [text, named].find((candidate) => URL.canParse(candidate));
  return valid === undefined ? undefined : new URL(valid);
}
