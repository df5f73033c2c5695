/** One place of the result that wants a value. */
export interface Wanted {
  /** For people, as in `limits[].tier`. */
  path: string;
  /** Its property's name and those around it, outermost first. */
  names: string[];
  /** What the schema says about it. */
  about: string;
}

/** A value with where the sources give it, as in `docs/a.md:12`. */
export interface Found {
  value: unknown;
  places: string[];
}
