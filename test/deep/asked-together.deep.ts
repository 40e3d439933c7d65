import { expect, test } from "vitest";
import { faultsIn } from "../property/asked-together.ts";

/** Maximum processor time for 1,000 jobs and all plans until each is placed. It was 2 to 4 s. */
const SECONDS = 30;

test.each([1, 2, 3, 4, 5])(
  "1,000 jobs of seed %i are placed by whoever does what their remedies say",
  (seed) => {
    const before = process.cpuUsage();
    const { faults, steps } = faultsIn({ seed, numRuns: 1000 });
    const { user, system } = process.cpuUsage(before);
    const seconds = (user + system) / 1e6;
    const counted = steps.map((jobs, remedies) => `${jobs} after ${remedies}`).join(", ");
    process.stdout.write(
      `seed ${seed}: ${seconds.toFixed(1)} s of processor time; jobs by remedies followed: ${counted}\n`,
    );
    expect(faults).toEqual([]);
    expect(seconds).toBeLessThan(SECONDS);
  },
);
