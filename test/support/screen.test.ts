import { expect, test } from "vitest";
import { bashScreen } from "./screen.js";

test("what is typed arrives, what is overwritten is gone, and the size is the one asked for", async () => {
  const screen = bashScreen(
    'tty -s && stty size; printf "wrong\\rright\\n"; read -r line; echo "got $line"; exit 3',
    { cols: 70, rows: 20 },
  );
  await screen.waitFor(/^right$/m);
  screen.type("hello\r");
  expect(await screen.done).toEqual({ code: 3, signal: 0 });
  expect(screen.text()).toBe("20 70\nright\nhello\ngot hello");
});

test("the cursor, colours and a line that scrolled away", async () => {
  const screen = bashScreen(
    'printf "\\e[?25l\\e[31mred\\e[0m\\n"; seq 50; read -r; printf "\\e[?25h"; echo end; read -r',
  );
  await screen.waitFor(/^50$/m);
  expect(screen.cursorVisible).toBe(false);
  expect(screen.raw).toContain("\x1b[31mred");
  screen.type("\r");
  await screen.waitFor(/^end$/m);
  expect(screen.cursorVisible).toBe(true);
  expect(screen.text()).toMatch(/^red\n1\n2\n/);
});

test("Ctrl-C interrupts what runs, and with it a loop around it", async () => {
  const screen = bashScreen("for i in 1 2 3; do echo start $i; sleep 20; done; echo not reached");
  await screen.waitFor(/start 1/);
  screen.type("\x03");
  expect(await screen.done).toEqual({ code: 0, signal: 2 });
  expect(screen.text()).not.toContain("start 2");
});

test("a screen that does not show it says what it shows", async () => {
  const screen = bashScreen("echo something; read -r");
  await screen.waitFor(/something/);
  await expect(screen.waitFor(/else/, 50)).rejects.toThrow("the screen:\nsomething");
  screen.kill();
});
