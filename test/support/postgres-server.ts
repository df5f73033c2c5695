import { type ChildProcess, execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";

/** PostgreSQL as a package of the registry ships it. */
export interface Binaries {
  /** The package's folder. */
  root: string;
  /** The library names that a package cannot hold, because it holds no symlinks; paths from `root`. */
  links: readonly { source: string; target: string }[];
}

/** PostgreSQL refuses to run as root; this user owns nothing. */
const NOBODY = 65_534;
const READY_LIMIT_MS = 30_000;

/** No fsync: the machine does not crash in a test. One folder holds data and socket. */
const SETTINGS = ["fsync=off", "full_page_writes=off", "listen_addresses=", "max_connections=100"];

/** A server of its own on a Unix socket, which ends with the process that started it. */
export class PostgresServer {
  readonly url: string;
  #process: ChildProcess | undefined;
  readonly #native: string;
  readonly #options: { uid?: number; gid?: number; env: NodeJS.ProcessEnv };

  private constructor(
    private readonly binaries: Binaries,
    readonly folder: string,
    private readonly settings: readonly string[],
  ) {
    const { root, links } = binaries;
    this.url = `postgresql://research@localhost/postgres?host=${folder}`;
    const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
    const libraries = join(folder, "links");
    mkdirSync(libraries);
    const env = { PATH: process.env.PATH, LC_ALL: "C", TZ: "UTC" };
    if (user.uid !== undefined) {
      chownSync(folder, NOBODY, NOBODY);
      chmodSync(folder, 0o755);
    }
    this.#native = join(root, "native");
    if (user.uid !== undefined && !runs(this.#native, user)) {
      this.#native = join(folder, "native");
      cpSync(join(root, "native"), this.#native, { recursive: true });
    }
    for (const { source, target } of links) {
      symlinkSync(join(this.#native, "lib", basename(source)), join(libraries, basename(target)));
    }
    const path = `${libraries}:${join(this.#native, "lib")}`;
    this.#options = { ...user, env: { ...env, LD_LIBRARY_PATH: path, DYLD_LIBRARY_PATH: path } };
  }

  /** Makes a cluster in `folder` and starts its server with these settings too; resolves when it answers. */
  static async start(
    binaries: Binaries,
    folder: string,
    settings: readonly string[] = [],
  ): Promise<PostgresServer> {
    const server = new PostgresServer(binaries, folder, settings);
    const data = join(folder, "data");
    // An empty cluster takes a second of the processor to make and a tenth to copy.
    const empty = process.env.TEST_EMPTY_CLUSTER;
    if (empty && existsSync(empty)) spawnSync("cp", ["-a", empty, data]);
    else {
      const args = ["-D", data, "-U", "research", "-A", "trust", "--no-sync", "-E", "UTF8"];
      await promisify(execFile)(server.#program("initdb"), args, server.#options);
      if (empty) keepCopy(data, empty);
    }
    await server.start();
    return server;
  }

  /** A standby in `folder` that follows this server; resolves when it answers. */
  async standby(folder: string): Promise<PostgresServer> {
    const settings = [...this.settings, `primary_conninfo=host=${this.folder} user=research`];
    const standby = new PostgresServer(this.binaries, folder, settings);
    const data = join(folder, "data");
    const client = new pg.Client({ connectionString: this.url });
    await client.connect();
    await client.query("SELECT pg_backup_start('standby', true)");
    spawnSync("cp", ["-a", join(this.folder, "data"), data]);
    const { rows } = await client.query("SELECT labelfile FROM pg_backup_stop()");
    await client.end();
    rmSync(join(data, "postmaster.pid"));
    for (const [name, text] of Object.entries({ backup_label: rows[0].labelfile, "standby.signal": "" })) {
      writeFileSync(join(data, name), text);
      if (process.getuid?.() === 0) chownSync(join(data, name), NOBODY, NOBODY);
    }
    await standby.start();
    return standby;
  }

  /** Of the server's first process, whose children serve the connections. */
  get pid(): number {
    return this.#process?.pid ?? 0;
  }

  /** Starts the server again after a stop. */
  async start(): Promise<void> {
    const log = openSync(join(this.folder, "log"), "a");
    const settings = [...SETTINGS, ...this.settings, `unix_socket_directories=${this.folder}`];
    const child = spawn(
      this.#program("postgres"),
      ["-D", join(this.folder, "data"), ...settings.flatMap((setting) => ["-c", setting])],
      { ...this.#options, stdio: ["ignore", log, log] },
    );
    closeSync(log);
    // A test process that is killed takes the server along: the pipe to this shell closes with it.
    spawn("sh", ["-c", `read _; kill -QUIT ${child.pid} 2>/dev/null`], {
      stdio: ["pipe", "ignore", "ignore"],
    }).unref();
    this.#process = child;
    const end = performance.now() + READY_LIMIT_MS;
    while (!(await this.#answers())) {
      if (child.exitCode !== null || performance.now() > end) throw new Error(this.#lastWords());
    }
  }

  /** Stops the server: "fast" ends sessions and writes all to disk, "immediate" is a crash. */
  async stop(mode: "fast" | "immediate"): Promise<void> {
    const child = this.#process;
    if (!child) return;
    const ended = once(child, "exit");
    child.kill(mode === "fast" ? "SIGINT" : "SIGQUIT");
    await ended;
    this.#process = undefined;
  }

  /** Ends the server at once, and waits for it: what it holds open could not be removed before. */
  kill(): void {
    if (!this.#process) return;
    const args = ["stop", "-m", "immediate", "-s", "-D", join(this.folder, "data")];
    spawnSync(this.#program("pg_ctl"), args, this.#options);
    this.#process = undefined;
  }

  #program(name: string): string {
    return join(this.#native, "bin", name);
  }

  async #answers(): Promise<boolean> {
    const client = new pg.Client({ connectionString: this.url });
    try {
      await client.connect();
      await client.end();
      return true;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 20));
      return false;
    }
  }

  #lastWords(): string {
    return `PostgreSQL did not start: ${readFileSync(join(this.folder, "log"), "utf8").slice(-2_000)}`;
  }
}

/** Makes `copy`, whole as soon as it is there; where another process was quicker, its copy stays. */
function keepCopy(folder: string, copy: string): void {
  const draft = `${copy}.${process.pid}`;
  spawnSync("cp", ["-a", folder, draft]);
  try {
    renameSync(draft, copy);
  } catch {
    rmSync(draft, { recursive: true });
  }
}

/** Whether that user may run what is in the folder: a checkout may be closed to others. */
function runs(native: string, user: { uid: number; gid: number }): boolean {
  const { error } = spawnSync(join(native, "bin/postgres"), ["--version"], { ...user, stdio: "ignore" });
  return error === undefined;
}
