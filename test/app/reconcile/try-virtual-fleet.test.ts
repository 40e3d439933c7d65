import { expect, test } from "vitest";
import { tryVirtualFleet } from "../../../src/app/reconcile/conclude-observation.ts";
import { decide } from "../../../src/decide/reconcile/reconcile.ts";
import { arrayName } from "../../../src/domain/ids.ts";
import { DEFAULT_POLICY } from "../../../src/domain/policy.ts";
import { buildArray, buildSnapshot, NOW } from "../../support/build-node.ts";
import { buildState, buildTarget, OURS } from "../../support/build-record.ts";

const viz = arrayName("viz");
/** `execute` acts, `viz` is observed. */
const policy = { ...DEFAULT_POLICY, arrayModes: new Map([[viz, "observe" as const]]) };

/** A stored fleet whose only node has lost its record. */
const HOSTILE =
  '{"at":0,"arrays":[{"name":"viz","since":0}],"nodes":[{"known":{}}],"moved":[],"boots":[],"made":0,"comparison":{"days":[]}}';

function plan(virtual?: string) {
  const { record, bodies } = buildState({ sets: { standard: { demands: [buildTarget(2)] } } });
  const stored = virtual === undefined ? bodies : { ...bodies, virtual: JSON.parse(virtual) };
  const snapshot = buildSnapshot([], { arrays: [buildArray(), buildArray("viz")] });
  const real = decide(record, stored, { snapshot, requestNodes: new Map() }, policy, NOW, OURS);
  const logged: string[] = [];
  const decision = tryVirtualFleet(real, { bodies: stored, policy, now: NOW, owner: OURS }, (event) =>
    logged.push(event),
  );
  return { real, decision, logged };
}

test("a fault in the virtual plan leaves the real plan as it is, and is a trouble and a line in the log", () => {
  const { real, decision, logged } = plan(HOSTILE);
  expect(decision.plan).toEqual(real.plan);
  expect(decision.plan.creates.map(({ count }) => count)).toEqual([2]);
  expect(decision.record.intents).toHaveLength(1);
  expect(decision.virtual).toBeUndefined();
  expect(logged).toEqual(["virtual-plan-failed"]);
  expect(decision.record.trouble).toMatchObject({ at: NOW, kind: "failed" });
  expect(decision.record.trouble?.message).toMatch(
    /^the virtual fleet was not planned, the real plan was made: TypeError: /,
  );
});

test("a sound record has the virtual plan and no trouble", () => {
  const { decision, logged } = plan();
  expect(decision.plan.virtual).toEqual({ creates: [], starts: [], terminates: [] });
  expect(decision.record.trouble).toBeUndefined();
  expect(logged).toEqual([]);
});
