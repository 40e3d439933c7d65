import { expect, test } from "vitest";
import { judgeStops } from "../../../src/decide/autostop/judge-stops.ts";
import { setName } from "../../../src/domain/ids.ts";
import { DEFAULT_POLICY } from "../../../src/domain/policy.ts";
import { buildCall } from "../../support/build-call.ts";
import { at, buildNode, buildSnapshot, NOW, rememberNodes } from "../../support/build-node.ts";
import { buildJob, buildState } from "../../support/build-record.ts";

/** A node asks, and a job that could run there needs a licence that a message without demand has brought. */
const nodes = [buildNode("n1")];
const licensed = buildJob("solve", 1, { constraints: [{ kind: "pool", pool: "licence", amount: 1 }] });
const { record, bodies } = buildState({
  sets: { standard: { demands: [licensed] } },
  ledger: rememberNodes(nodes),
  seen: buildSnapshot(nodes),
});
const entry = record.sets.get(setName("standard"));
if (entry === undefined) throw new RangeError("the set is there");
const demands = new Map(bodies.demands).set(entry.digest, {
  demands: [licensed],
  pools: [{ name: "licence", total: 1, used: 0 }],
  rejectedJobs: [],
});

test.each([
  { name: "the licence is in force: the node is needed", until: at(1), verdict: "needed" },
  { name: "it has run out since the last plan: the node may stop", until: at(-1), verdict: "marked" },
])("$name", ({ until, verdict }) => {
  const separatePools = new Map([[setName("standard"), { ...entry, expiresAt: until }]]);
  const { verdicts } = judgeStops(
    { ...record, separatePools },
    { ...bodies, demands },
    [buildCall("n1")],
    DEFAULT_POLICY,
    NOW,
  );
  expect(verdicts.map(({ kind }) => kind)).toEqual([verdict]);
});
