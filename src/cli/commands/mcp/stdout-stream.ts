import { Writable } from "node:stream";
import type { Sink } from "../../terminal/host.js";

/** The program's stdout as a stream, for a library that writes to one. */
export function stdoutStream(stdout: Sink): Writable {
  return new Writable({
    decodeStrings: false,
    write(chunk: string | Uint8Array, _encoding, done) {
      stdout.write(chunk).then(() => done(), done);
    },
  });
}
