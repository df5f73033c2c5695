const OPENABLE = new Set(["http:", "https:", "mailto:"]);

/** The address of a link in printable ASCII, if it is one that may be opened; undefined for any other. */
export function openable(address: string): string | undefined {
  // URL() drops line breaks and tabs inside an address, which would make another address of it.
  if (/[\s\p{Cc}]/u.test(address) || !URL.canParse(address)) return undefined;
  const url = new URL(address);
  return OPENABLE.has(url.protocol) ? url.href : undefined;
}
