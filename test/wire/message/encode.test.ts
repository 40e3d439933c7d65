import { expect, test } from "vitest";
import { encodeDemandMessage } from "../../../src/wire/message/encode.ts";
import type { DemandMessage } from "../../../src/wire/message/message.ts";
import { readDemandMessage } from "../../../src/wire/message/demand-message.ts";
import { CONTEXT, updateOf } from "../context.ts";

const withJobs = (count: number): DemandMessage => ({
  version: 1,
  cluster: "prod",
  jobs: Array.from({ length: count }, (_, index) => ({
    name: `job-${index}`,
    constraints: { ncpus: 1 + (index % 7) },
  })),
});

/** Text that gzip cannot shrink: each job's name is a number of a fixed sequence in base 36. */
const incompressible = (count: number): DemandMessage => {
  let state = 1;
  const name = () => {
    state = (state * 48_271) % 2_147_483_647;
    return state.toString(36);
  };
  return {
    ...withJobs(0),
    jobs: Array.from({ length: count }, () => ({ name: name() + name() + name() + name() })),
  };
};

test.each([
  { name: "a small message is plain JSON", message: withJobs(1), options: {}, start: '{"version":1' },
  { name: "one of 48 KiB is packed", message: withJobs(2000), options: {}, start: "H4sI" },
  { name: "a small one is packed on request", message: withJobs(1), options: { gzip: true }, start: "H4sI" },
])("$name and reads the same", ({ message, options, start }) => {
  const encoded = encodeDemandMessage(message, options);
  const text = encoded.kind === "text" ? encoded.text : "";
  expect(text.slice(0, start.length)).toBe(start);
  expect(updateOf(readDemandMessage(text, CONTEXT))).toEqual(updateOf(readDemandMessage(message, CONTEXT)));
});

test("one that stays above 64 KiB even when packed is too large for the queue", () => {
  expect(encodeDemandMessage(incompressible(5000))).toMatchObject({ kind: "too-large", limit: 65_536 });
  // {"version":1,"cluster":"prod","requestSet":""} is 46 characters long.
  const long = { version: 1, cluster: "prod", requestSet: "x".repeat(70_000) } as const;
  expect(encodeDemandMessage(long, { gzip: false })).toEqual({
    kind: "too-large",
    bytes: 70_046,
    limit: 65_536,
  });
});

test("a wake message is encoded too", () => {
  expect(encodeDemandMessage({ version: 1, cluster: "prod", wake: true, at: 5 })).toEqual({
    kind: "text",
    text: '{"version":1,"cluster":"prod","wake":true,"at":5}',
  });
});
