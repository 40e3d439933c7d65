import { expect, test } from "vitest";
import { sayWhenSimulated } from "../../src/cli/simulated-time.ts";

/** What is printed where `texts` are said one minute of real time after the demo's start. */
function printed(clock: string | undefined, ...texts: readonly string[]) {
  const out: string[] = [];
  const err: string[] = [];
  const { terminal, close } = sayWhenSimulated({
    say: (text) => out.push(text),
    complain: (text) => err.push(text),
    clear: () => undefined,
    read: () => Promise.reject(new Error("no such file")),
    now: () => 1_763_636_460_000,
    sleep: () => Promise.resolve(true),
    alone: (_name, work) => work(undefined, async () => undefined),
    signIn: () => Promise.reject(new Error("nobody is signed in")),
    open: () => Promise.reject(new Error("no browser")),
    rows: undefined,
    columns: undefined,
    environment: { AUTOSCALER_SIMULATED_CLOCK: clock },
    release: "1.2.3",
  });
  for (const text of texts) terminal.say(text);
  close();
  return { out, err };
}

const WITH_TIME = "valid until 2025-11-20T12:30:00.000Z";

test("moments of a clock that is ahead are marked once, with what time it is there", () => {
  expect(printed("1763636400000@60", WITH_TIME, WITH_TIME)).toEqual({
    out: [WITH_TIME, WITH_TIME],
    err: ["(simulated times: in the demo it is now 2025-11-20T12:00:00.000Z)"],
  });
});

test.each([
  { name: "outside the demo", clock: undefined, text: WITH_TIME },
  { name: "in real time", clock: "1763636400000@1", text: WITH_TIME },
  { name: "for a text without a moment", clock: "1763636400000@60", text: "no nodes" },
  { name: "for a clock that makes no sense", clock: "soon", text: WITH_TIME },
])("nothing is said $name", ({ clock, text }) => {
  expect(printed(clock, text)).toEqual({ out: [text], err: [] });
});
