import { setImmediate, setTimeout } from "node:timers/promises";
import type { HttpResponseInit } from "@azure/functions";
import type { Leave } from "../src/app/process/gate.ts";
import type { App } from "../src/app/process/lanes.ts";
import type { Composition } from "../src/compose.ts";
import type { Problem } from "../src/domain/demand.ts";
import { mebibytesText, SMALL_TEXT } from "../src/domain/memory-budget.ts";
import type { Sliced } from "../src/domain/sliced.ts";
import type { Milliseconds, Seconds } from "../src/domain/units.ts";
import type { Most } from "../src/wire/json/decode.ts";
import { weighInSlices } from "../src/wire/json/decode.ts";
import { problem } from "./answering.ts";

/** Who waits longer for memory is sent away. In real time: reading costs processor time. */
const PATIENCE_SECONDS: Seconds = 10;

/** Whether there is memory to read a message. */
type Entry =
  /** It may be read. `leave` when it is recorded or refused. */
  | { readonly kind: "entered"; readonly leave: Leave }
  /** To read it takes more memory than this process has for messages. */
  | { readonly kind: "too-heavy"; readonly problem: Problem }
  /** Others were being read all the time. */
  | { readonly kind: "busy" };

/** After this much work, in real time, it gives way to what goes first. */
const TURN_MS: Milliseconds = 5;

/**
 * Does the slices of a work one by one. In between, the process does what else there is to do. As long as small messages and plans are under
 * way it pauses, at most as long as it has worked.
 */
export async function inTurns<T>({ lanes }: Pick<App, "lanes">, work: Sliced<T>): Promise<T> {
  let worked = 0;
  for (;;) {
    const begun = performance.now();
    const { done, value } = work.next();
    if (done === true) return value;
    worked += performance.now() - begun;
    await setImmediate();
    if (worked < TURN_MS) continue;
    for (const until = performance.now() + worked; lanes.reading.hasFirst && performance.now() < until;)
      await setTimeout(1);
    worked = 0;
  }
}

/** Waits until this process has memory to read a message (docs/protocol.md, Memory). */
export async function enterToRead(
  { app: { lanes, ports } }: Composition,
  input: string | Uint8Array | object,
  most: Most,
): Promise<Entry> {
  const { text, heap } = await inTurns({ lanes }, weighInSlices(input, most));
  const { large } = lanes.budget;
  if (heap > large) {
    const found = `a message that takes ${mebibytesText(heap)} of memory to read`;
    const expected = `at most ${mebibytesText(large)} on instances of this size: send it as several request sets, or set instanceMemoryMB higher`;
    return { kind: "too-heavy", problem: { path: "", found, expected } };
  }
  const lane = text < SMALL_TEXT ? "small" : "large";
  const leave = await lanes.reading.enter(lane, heap, ports.clock, PATIENCE_SECONDS);
  return leave === undefined ? { kind: "busy" } : { kind: "entered", leave };
}

/** Answers a request whose body is read only when there is memory for it. The body counts until the answer. */
export async function answerWithBody(
  composed: Composition,
  body: Uint8Array,
  most: Most,
  answer: () => Promise<HttpResponseInit>,
): Promise<HttpResponseInit> {
  const entry = await enterToRead(composed, body, most);
  switch (entry.kind) {
    case "too-heavy": {
      const { found, expected } = entry.problem;
      return problem(413, "Too large", `found ${found}, expected ${expected}`, { problems: [entry.problem] });
    }
    case "busy":
      return problem(503, "Cannot tell now", "other messages are being read; send it again", {
        retryAfterSeconds: PATIENCE_SECONDS,
      });
    case "entered":
      try {
        return await answer();
      } finally {
        entry.leave();
      }
  }
}
