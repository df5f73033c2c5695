const EXAMPLE = "postgresql://user@host:5432/database";
const PASSWORD_PARAMETER = /pass(?:word|wd)|^pwd$/i;

/** Returns what is wrong with a database URL, without repeating the URL. Refuses a password in an argument, because a process list shows it. */
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

/** Parses a URL that may lack the host (`postgresql:///db?host=/run/postgresql`), even after a user. The class URL rejects that. */
function parseUrl(text: string): URL | undefined {
  const named = text.replace(/^(postgres(?:ql)?:\/\/[^/?#]*@)(?=[/?]|$)/i, "$1localhost");
  const valid = [text, named].find((candidate) => URL.canParse(candidate));
  return valid === undefined ? undefined : new URL(valid);
}
