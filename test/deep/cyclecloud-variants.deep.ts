import { serveSimulatedCycleCloud } from "../contract/cyclecloud-simulator.ts";
import { describeCycleCloud } from "../contract/cyclecloud-suite.ts";
import { VARIANTS } from "../contract/simulator-variants.ts";

// Each variant alone; test/contract/cyclecloud-simulator.test.ts has those that go together at once.
for (const { name, variant } of VARIANTS)
  describeCycleCloud(`the simulator over HTTP, ${name}`, () => serveSimulatedCycleCloud(variant));
