import type { Topic } from "../topic.js";

export const polling: Topic = {
  name: "polling",
  summary: "how often the service is asked, and when a watch gives up",
  text: `The first poll goes at once. Then the wait grows with the age of the request:
about a twentieth of it, between 1 s and 30 s, with jitter. Once 30 finished
runs are known for the origin, the wait follows how long those took. All ids
together are polled at most 50 times a second. --interval fixes the pace.

A Retry-After of the service only ever lengthens a wait.

A poll that fails is repeated and reported: one line when the trouble starts,
one when it ends. An id is given up when no poll has succeeded for --patience
(10m), or on an answer that cannot change (401, or 404 in an envelope). Time
that the service asked to wait does not count. An id that is not in the
history is given up after four tries, until the service has answered once.

--timeout ends the wait (exit code 8), and so does Ctrl-C; neither stops the
research. --stop-on-interrupt does. --request-timeout (30s) limits one
exchange: to connect and answer, and for \`output\` the headers and the wait
between two pieces of the body.

Durations are 500ms, 30s, 10m, 2h, 3d, or a number of seconds.
`,
};
