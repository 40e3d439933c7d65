import { setImmediate } from "node:timers/promises";
import type { HttpResponseInit } from "@azure/functions";
import type { Leave } from "../src/app/process/gate.ts";
import type { Composition } from "../src/compose.ts";
import type { Problem } from "../src/domain/demand.ts";
import { mebibytesText, SMALL_TEXT } from "../src/domain/memory-budget.ts";
import type { Sliced } from "../src/domain/sliced.ts";
import type { Seconds } from "../src/domain/units.ts";
import type { Most } from "../src/wire/json/decode.ts";
import { weighInSlices } from "../src/wire/json/decode.ts";
import { problem } from "./problem.ts";

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

/** Does the slices of a work one by one. In between, the process does what else there is to do. */
export async function inTurns<T>(work: Sliced<T>): Promise<T> {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
    await setImmediate();
  }
}

/** Waits until this process has memory to read a message (docs/protocol.md, Memory). */
export async function enterToRead(
  { app: { lanes, ports } }: Composition,
  input: string | Uint8Array | object,
  most: Most,
): Promise<Entry> {
  const { text, heap } = await inTurns(weighInSlices(input, most));
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
