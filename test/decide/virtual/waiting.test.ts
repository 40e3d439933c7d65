import { expect, test } from "vitest";
import { at, buildNode, buildSnapshot } from "../../support/build-node.ts";
import { buildJob } from "../../support/build-record.ts";
import { TwoFleets } from "./two-fleets.ts";

const lasting = { expiresAt: at(86_400), intervalSeconds: 86_400 };

test("a job that runs in reality waits in the virtual fleet as long as its virtual node boots", () => {
  const fleets = new TwoFleets({ sets: { slurm: lasting } });
  fleets.plan(0, buildSnapshot());
  const placed = [{ hostname: "ip-r1", iterations: 4 }];
  fleets.push({ slurm: { ...lasting, demands: [buildJob("7", 4, { placed })] } });
  // The virtual node is made at 60 and boots until 360: the observations at 60, 120, ... 300 find the job waiting.
  for (let seconds = 60; seconds <= 600; seconds += 60)
    fleets.plan(seconds, buildSnapshot([buildNode("r1")]));
  expect(fleets.fleet.moved).toEqual([{ real: "r1", to: "virtual-0" }]);
  const [day] = fleets.fleet.comparison.days;
  expect(day?.waiting).toEqual({ real: 0, virtual: 300 });
});
