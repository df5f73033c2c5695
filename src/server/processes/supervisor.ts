import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import type { Writable } from "node:stream";
import { endGroup, spawnGroup } from "./process-group.js";

/** An environment variable that all descendants of a command inherit. It identifies processes that left the command's group. */
const MARK = "SUPERVISED_BY";

/**
 * A shell script that reads "+ PID" and "- PID". When its stdin ends, which happens however this process dies, it kills
 * the remaining groups. Then, on Linux, it kills the processes with the mark ($1), which left their group, until none
 * remains. Until then it ignores signals, because a signal to all processes of the service is not meant for it.
 */
const SUPERVISOR = `
trap '' HUP INT TERM
groups=' '
while read -r sign pid; do
  case $sign in
    +) groups="$groups$pid " ;;
    -) case $groups in *" $pid "*) groups="\${groups%% $pid *} \${groups#* $pid }" ;; esac ;;
  esac
done
for pid in $groups; do kill -s KILL -- "-$pid"; done
found=1
while [ $found = 1 ]; do
  found=0
  for file in $(grep -ls "$1" /proc/[0-9]*/environ); do
    pid=\${file#/proc/}
    kill -s KILL "\${pid%/environ}" && found=1
  done
  [ $found = 0 ] || sleep 1
done`;

/** Delays the command until the supervisor knows its group. If this process dies before that, the command never starts. */
const GATE = 'read -r _ <&3 || exit 125; exec 3<&-; exec /bin/sh -c "$1"';

/** Starts shell commands whose process groups end with this process, even if it is killed. */
export class Supervisor {
  #supervisor: ChildProcess | undefined;
  readonly #mark = `${MARK}=${randomUUID()}`;
  readonly #groups = new Set<number>();

  /** Starts a shell command as the leader of a new process group; stdin, stdout and stderr are pipes. */
  spawn(command: string, env: NodeJS.ProcessEnv): ChildProcess {
    // Windows has no /bin/sh, and does not end a process with its parent.
    if (process.platform === "win32") return spawnGroup(command, env, ["pipe", "pipe", "pipe"]);
    const child = spawn("/bin/sh", ["-c", GATE, "sh", command], {
      detached: true,
      env: { ...env, [MARK]: this.#mark.slice(MARK.length + 1) },
      stdio: ["pipe", "pipe", "pipe", "pipe"],
    });
    const gate = child.stdio[3] as Writable;
    gate.on("error", () => {});
    if (child.pid !== undefined) {
      this.#groups.add(child.pid);
      this.#tell(`+ ${child.pid}\n`, () => gate.end("\n"));
    }
    return child;
  }

  /** Ends the child's group (SIGTERM, SIGKILL 5 s later), and forgets the group once all its processes have ended. */
  async end(child: ChildProcess): Promise<void> {
    await endGroup(child);
    if (child.pid !== undefined && this.#groups.delete(child.pid)) this.#tell(`- ${child.pid}\n`);
  }

  /** Ends the supervisor. All groups must have ended before. */
  close(): void {
    this.#supervisor?.stdin?.end();
  }

  #tell(line: string, then?: () => void): void {
    this.#supervisor ??= this.#start();
    this.#supervisor.stdin?.write(line, then);
  }

  #start(): ChildProcess {
    const supervisor = spawn("/bin/sh", ["-c", SUPERVISOR, "sh", this.#mark], {
      detached: true,
      env: { PATH: process.env.PATH },
      stdio: ["pipe", "ignore", "ignore"],
    });
    // If the supervisor was killed, the next command starts another one with the list of groups.
    const noteGone = () => {
      if (this.#supervisor === supervisor) this.#supervisor = undefined;
    };
    supervisor.on("error", noteGone).on("exit", noteGone);
    supervisor.stdin?.on("error", noteGone);
    supervisor.unref();
    (supervisor.stdin as Writable & { unref?(): void })?.unref?.();
    for (const pid of this.#groups) supervisor.stdin?.write(`+ ${pid}\n`);
    return supervisor;
  }
}
