import { expect, test } from "vitest";
import type { HostileInput } from "../support/hostile-inputs.ts";
import { hostileBodies, hostileMessages } from "../support/hostile-inputs.ts";
import { measureInputs } from "../support/measure-inputs.ts";

/** Each input in a process of its own: what it costs to take it in, or to refuse it, above what the process held before. */

async function measureOne(input: HostileInput) {
  const cost = (await measureInputs([input])).get(input.name);
  if (cost === undefined) throw new Error(`${input.name}: not measured`);
  const { outcome, processorSeconds, mebibytes } = cost;
  console.log(
    `${input.door}: ${input.name}, ${input.body.length} characters: ${processorSeconds.toFixed(2)} s, ${mebibytes.toFixed(0)} MiB, ${outcome}`,
  );
  return cost;
}

test("a queue message of 64 KiB: under 3 s of processor time and 200 MiB", async () => {
  for (const input of hostileMessages()) {
    const { processorSeconds, mebibytes } = await measureOne(input);
    expect(processorSeconds, input.name).toBeLessThan(3);
    expect(mebibytes, input.name).toBeLessThan(200);
  }
});

test("a request body of 32 MiB of JSON: under 500 MiB", async () => {
  for (const input of hostileBodies()) {
    const { mebibytes } = await measureOne(input);
    expect(mebibytes, input.name).toBeLessThan(500);
  }
});
