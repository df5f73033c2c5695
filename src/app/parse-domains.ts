import { UsageError } from "./errors.js";

/** Parses domains separated by commas to the form of a URL's host. Throws UsageError, which names the flag. */
export function parseDomains(flag: string, list: string | undefined): string[] {
  if (list === undefined) return [];
  return list.split(",").map((domain) => {
    const name = domain.trim().replace(/^\*?\./, "");
    const { hostname = "" } = URL.canParse(`http://${name}/`) ? new URL(`http://${name}/`) : {};
    if (!/^[\w-]+(?:\.[\w-]+)*$/.test(hostname) || /[/:@?#]/.test(name))
      throw new UsageError(`invalid ${flag}: ${JSON.stringify(name)} is not the name of a domain`);
    return hostname;
  });
}
