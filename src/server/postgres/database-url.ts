/** The argument or variable that names the database is not a PostgreSQL URL. The message never repeats it. */
export class InvalidDatabaseUrl extends Error {
  override name = "InvalidDatabaseUrl";
}

const EXAMPLE = "postgresql://user@host:5432/database";
const PASSWORD_PARAMETER = /pass(?:word|wd)|^pwd$/i;

/**
 * Checks the URL of a database, and returns it as it is. An argument must not hold a password in any form, since
 * every user of the machine can read the arguments of a process; a variable may. Throws InvalidDatabaseUrl.
 */
export function checkDatabaseUrl(text: string, from: "argument" | "variable"): string {
  const url = parsed(text);
  const valid = url && /^postgres(?:ql)?:$/.test(url.protocol) && url.hash === "";
  if (!valid) throw new InvalidDatabaseUrl(`is not a PostgreSQL URL such as ${EXAMPLE}`);
  if (from === "argument" && holdsPassword(url)) {
    throw new InvalidDatabaseUrl(
      "holds a password, and every user of this machine can read it there: " +
        "give the password in PGPASSWORD or ~/.pgpass, or the whole URL in RESEARCH_SERVE_DATABASE",
    );
  }
  return text;
}

function holdsPassword(url: URL): boolean {
  if (url.password !== "" || /%3a/i.test(url.username)) return true;
  return [...url.searchParams.keys()].some((name) => PASSWORD_PARAMETER.test(name));
}

/** A URL may leave the host out (`postgresql:///db?host=/run/postgresql`), also with a user, which URL refuses. */
function parsed(text: string): URL | undefined {
  for (const candidate of [text, text.replace(/^(postgres(?:ql)?:\/\/[^/?#]*@)(?=[/?]|$)/i, "$1localhost")]) {
    try {
      return new URL(candidate);
    } catch {}
  }
  return undefined;
}
