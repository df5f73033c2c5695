import { chmodSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { folderWith } from "./folder.js";
import { research } from "./in-process.js";
import { listen } from "./listen.js";

type Command = typeof research;

/**
 * A folder with a `research` for the PATH of a shell, whose command lines run in this process: it costs a shell a
 * twentieth of the program's start. It hands over the arguments, the environment and the folder, and no stdin; all that
 * was written comes at the end. Command lines that name a folder wait for each other, so none may start another one.
 */
export async function shellCommand(command: Command = research): Promise<string> {
  const server = createServer((socket) => {
    let text = "";
    // A command that is killed.
    socket.on("error", () => {});
    socket.setEncoding("utf8").on("data", (part: string) => {
      text += part;
      const [cwd = "", count, ...rest] = text.split("\0");
      const args = rest.splice(0, Number(count));
      // An empty entry ends the environment.
      const variables = rest.slice(0, -2);
      if (rest.length > 1 && rest.at(-2) === "") void answer(socket, command, args, cwd, variables);
    });
  });
  const port = await listen(server);
  const folder = folderWith({
    research: `#!/usr/bin/env bash
exec 3<>/dev/tcp/127.0.0.1/${port}
{ printf '%s\\0' "$PWD" "$#" "$@"; env -0; printf '\\0'; } >&3
read -r code bytes <&3
head -c "$bytes" <&3
cat <&3 >&2
exit "$code"
`,
  });
  chmodSync(join(folder, "research"), 0o755);
  return folder;
}

/** Runs a command line; the answer is its exit code and the length of its stdout in bytes, its stdout, and its stderr. */
async function answer(
  socket: Socket,
  command: Command,
  args: readonly string[],
  cwd: string,
  variables: readonly string[],
): Promise<void> {
  const env = Object.fromEntries(variables.map((entry) => entry.split(/=(.*)/s, 2)));
  const { code, stdout, stderr } = await command(args, { cwd, env, home: env.HOME ?? cwd });
  socket.end(`${code} ${Buffer.byteLength(stdout)}\n${stdout}${stderr}`);
}
