import * as fs from "node:fs";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { CodedError } from "../app/errors.js";
import { LocalError, wrapFileErrors } from "../core/files/local-error.js";

/** Returns the path of a new file in `folder` (absolute). Throws CodedError for a path outside of it or through a symbolic link, and LocalError. */
export function chooseSavePath(folder: string | undefined, wanted: string): string {
  if (folder === undefined)
    throw new CodedError("NOT_ALLOWED", "save_to needs `research mcp --allow-dir FOLDER`");
  const root = wrapFileErrors(`${folder} cannot be written`, () => fs.realpathSync(folder));
  // The user may have named the folder by a link, and then `wanted` may begin with that name.
  const below = relative(folder, resolve(folder, wanted));
  const path = isBelowFolder(below) ? join(root, below) : resolve(wanted);
  if (!isBelowFolder(relative(root, path)))
    throw new CodedError(
      "NOT_ALLOWED",
      `${wanted} is not in ${root}, the folder that the server may write to`,
    );
  const parent = dirname(path);
  if (wrapFileErrors(`${parent} cannot be written`, () => fs.realpathSync(parent)) !== parent)
    throw new CodedError("NOT_ALLOWED", `${wanted} leads through a symbolic link, which is not followed`);
  if (wrapFileErrors(`${path} cannot be written`, () => fs.lstatSync(path, { throwIfNoEntry: false })))
    throw new LocalError(`${path} exists already; name another file`);
  return path;
}

function isBelowFolder(path: string): boolean {
  return path !== "" && path !== ".." && !path.startsWith(`..${sep}`) && !isAbsolute(path);
}
