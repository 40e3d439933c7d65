import { expect, test } from "vitest";
import { hostileMessages } from "../support/hostile-inputs.ts";
import { measureInputs } from "../support/measure-inputs.ts";

/** Some kinds; all of them, and large request bodies: test/deep/hostile-cost.deep.ts. */
const SOME = new Set([
  "jobs that are nothing, as many as fit",
  "lists in lists in attributes",
  "constraints, a thousand a job",
  "levels of objects",
  "sizes of digits",
  "sizes of letters",
  "far more than is allowed",
]);

test("queue messages that cost as much as any are taken in or refused in under 3 s of processor time and 200 MiB", async () => {
  const messages = hostileMessages(SOME);
  expect(messages).toHaveLength(SOME.size);
  expect(messages.filter(({ body }) => body.length > 64 * 1024).map(({ name }) => name)).toEqual([]);
  const costs = await measureInputs(messages);
  expect(costs.size).toBe(messages.length);
  for (const [name, { processorSeconds, mebibytes }] of costs) {
    expect(processorSeconds, name).toBeLessThan(3);
    expect(mebibytes, name).toBeLessThan(200);
  }
});
