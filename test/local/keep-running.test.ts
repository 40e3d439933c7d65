import { expect, test } from "vitest";
import { keepRunning } from "../../src/local/keep-running.ts";
import type { KeepOptions } from "../../src/local/keep-running.ts";

type Process = Awaited<ReturnType<KeepOptions["start"]>>;

/** Processes that end when told to, and pauses that end at once. */
function scene(starts: readonly ("runs" | "fails")[]) {
  const said: string[] = [];
  const ends: ((how: string) => void)[] = [];
  const stopped: number[] = [];
  let started = 0;
  const process = (): Process => {
    const { promise, resolve } = Promise.withResolvers<string>();
    const index = ends.push(resolve) - 1;
    return {
      pid: 100 + index,
      exited: promise,
      stop: () => {
        stopped.push(index);
        resolve("0");
        return promise;
      },
    };
  };
  const start = async (): Promise<Process> => {
    if (starts[started++] === "fails")
      throw new Error("main.ts ended (1):\nRestError: connect ECONNREFUSED\n    at somewhere");
    return process();
  };
  const kept = keepRunning({
    name: "the function app",
    start,
    say: (line) => said.push(line),
    pause: async () => undefined,
    first: process(),
  });
  return { said, ends, stopped, kept };
}

test("a process that ends is started again, each time after a longer pause, and counted", async () => {
  const { said, ends, kept } = scene(["runs", "fails", "runs"]);
  ends[0]?.("SIGKILL");
  await expect.poll(() => said).toHaveLength(2);
  ends[1]?.("1");
  await expect.poll(() => said).toHaveLength(5);
  expect(said).toEqual([
    "the function app has ended (SIGKILL); it is started again in 1 s",
    "the function app runs again (process 101, started again 1 time)",
    "the function app has ended (1); it is started again in 2 s",
    "the function app could not be started (RestError: connect ECONNREFUSED); the next try is in 4 s",
    "the function app runs again (process 102, started again 2 times)",
  ]);
  await kept.stop();
});

test("the pause is at most a minute", async () => {
  const { said, ends, kept } = scene(Array.from({ length: 9 }, () => "fails" as const));
  ends[0]?.("SIGKILL");
  await expect.poll(() => said.length).toBeGreaterThan(9);
  expect(said.slice(5, 10).map((line) => line.replace(/.* in/, "in"))).toEqual([
    "in 32 s",
    "in 60 s",
    "in 60 s",
    "in 60 s",
    "in 60 s",
  ]);
  await kept.stop();
});

test("what is stopped on purpose is neither reported nor started again", async () => {
  const { said, stopped, kept } = scene([]);
  await kept.stop();
  expect({ said, stopped }).toEqual({ said: [], stopped: [0] });
});
