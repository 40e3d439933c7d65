import { describe, expect, test } from "vitest";
import { backOff, forgetOldBackoffs } from "../../../src/decide/intents/back-off.ts";
import { pauseBuckets } from "../../../src/decide/stops/pause-buckets.ts";
import { reachOf } from "../../../src/decide/stops/reach.ts";
import { contradictedNodes } from "../../../src/decide/stops/still-idle.ts";
import type { Node } from "../../../src/domain/cluster.ts";
import { nodeId, placementGroup } from "../../../src/domain/ids.ts";
import type { LedgerNode } from "../../../src/domain/ledger.ts";
import type { Plan } from "../../../src/domain/plan.ts";
import { DEFAULT_POLICY } from "../../../src/domain/policy.ts";
import type { ClusterRecord } from "../../../src/domain/record.ts";
import { at, buildLedger, buildNode, buildSnapshot, NOW, rememberNode } from "../../support/build-node.ts";
import { BUCKET, buildState, EMPTY_RECORD } from "../../support/build-record.ts";
import { OFF } from "./down-stage.ts";

/** An observation at this second, in which a node of this name goes down after it was Ready for `lived` seconds. */
interface Death {
  readonly seconds: number;
  readonly lived: number;
  readonly isNeeded?: false;
  readonly placementGroup?: string;
  /** Other nodes that are up: since when each is Ready. */
  readonly up?: readonly number[];
}

/** The record after these observations, each of which shows one node that goes down. */
function after(deaths: readonly Death[]): ClusterRecord {
  return deaths.reduce(
    (record, { seconds, lived, isNeeded = true, placementGroup: group, up = [] }, index) => {
      const now = at(seconds);
      const place = group === undefined ? {} : { placementGroup: placementGroup(group) };
      const node = buildNode(`n${index}`, { ...OFF, ...place });
      const known: LedgerNode = {
        ...rememberNode(buildNode(`n${index}`)),
        firstReadyAt: at(seconds - lived),
      };
      const others = up.map((since, i): { node: Node; known: LedgerNode } => {
        const other = buildNode(`up${i}`);
        return { node: other, known: { ...rememberNode(other), firstReadyAt: at(since) } };
      });
      const ledger = others.map((other) => other.known);
      const nodes: Plan["nodes"] = new Map([
        [node.nodeId, isNeeded ? { kind: "needed", by: ["a/b"] } : { kind: "busyness-unknown" }],
      ]);
      const last: Plan = { number: 1, at: at(seconds - 60), creates: [], terminates: [], demands: [], nodes };
      const snapshot = buildSnapshot([node, ...others.map((other) => other.node)], { at: now });
      return pauseBuckets(
        record,
        { ledger: buildLedger([known, ...ledger]), plan: last },
        snapshot,
        buildLedger([{ ...known, down: { how: "off", since: now, observations: 1 } }, ...ledger]),
        {
          open: new Set(),
          standings: new Map(),
          facts: new Map(),
          reach: reachOf(snapshot, DEFAULT_POLICY),
          policy: DEFAULT_POLICY,
        },
        now,
      );
    },
    EMPTY_RECORD,
  );
}

const pauses = ({ backoffs }: ClusterRecord) => backoffs.map(({ cause, seconds }) => `${cause} ${seconds}`);

describe("nodes that go down soon after they were Ready", () => {
  const three = [0, 600, 1200].map((seconds): Death => ({ seconds, lived: 300 }));

  test.each<{ name: string; deaths: readonly Death[]; paused: readonly string[] }>([
    { name: "two in a row: no pause", deaths: three.slice(0, 2), paused: [] },
    { name: "the third of a bucket in a row pauses it", deaths: three, paused: ["went-down 60"] },
    {
      name: "in three placement groups too: the image is the same",
      deaths: three.map((death, i): Death => ({ ...death, placementGroup: `g${i}` })),
      paused: ["went-down 60"],
    },
    {
      name: "each further one pauses it for twice as long",
      deaths: [...three, { seconds: 90_000, lived: 1799 }],
      paused: ["went-down 120"],
    },
    {
      name: "one that was Ready for 30 minutes is none of them",
      deaths: [...three.slice(0, 2), { seconds: 1200, lived: 1800 }],
      paused: [],
    },
    {
      name: "one that no demand needed is none of them",
      deaths: [...three.slice(0, 2), { seconds: 1200, lived: 300, isNeeded: false }],
      paused: [],
    },
    {
      name: "a node that lasted 30 minutes since the first ends the row",
      deaths: [...three.slice(0, 2), { seconds: 2000, lived: 300, up: [150] }],
      paused: [],
    },
    {
      name: "a node that had lasted before the first of them does not",
      deaths: [...three.slice(0, 2), { seconds: 2000, lived: 300, up: [-9000] }],
      paused: ["went-down 60"],
    },
    {
      name: "the pause is forgotten once a node has lasted",
      deaths: [...three, { seconds: 9000, lived: 300, up: [7000] }],
      paused: [],
    },
  ])("$name", ({ deaths, paused }) => {
    expect(pauses(after(deaths))).toEqual(paused);
  });

  test("the pause grows to two hours at most", () => {
    const day = Array.from({ length: 12 }, (_, i): Death => ({ seconds: i * 9000, lived: 300 }));
    expect([9, 10, 11, 12].map((count) => pauses(after(day.slice(0, count))))).toEqual([
      ["went-down 3840"],
      ["went-down 7200"],
      ["went-down 7200"],
      ["went-down 7200"],
    ]);
  });

  test("the pause is kept for a day after its end; that of a failed boot for half an hour", () => {
    const { backoffs } = after(three);
    const both = [...backoffs, ...backoffs.map((one) => ({ ...one, cause: "boot-failed" as const }))];
    const keptAt = (seconds: number) => forgetOldBackoffs(both, at(seconds)).map(({ cause }) => cause);
    expect(keptAt(9000)).toEqual(["went-down"]);
    expect(keptAt(1260 + 86_399)).toEqual(["went-down"]);
    expect(keptAt(1260 + 86_400)).toEqual([]);
  });

  test("a refusal of CycleCloud has a pause of its own", () => {
    const refused = backOff(after(three), BUCKET, "refused", "no", at(1300));
    expect(pauses(refused)).toEqual(["went-down 60", "refused 60"]);
  });
});

describe("before the stop of a node that is down is sent", () => {
  const down = (more: Parameters<typeof buildState>[0]) => {
    const draining = { since: NOW, by: "down" as const, plan: 1, attempts: 0 };
    const ledger = buildLedger([rememberNode(buildNode("n1"), { draining })]);
    const { record, bodies } = buildState({ ...more, ledger });
    return (questions = new Map()) =>
      contradictedNodes([nodeId("n1")], NOW, record, { ...bodies, questions }, DEFAULT_POLICY, at(5));
  };
  const reported = (jobs: readonly string[]) => ({
    sets: { pbs: { report: [{ hostname: "ip-n1", jobs, state: "open" as const }], sentAt: at(2) } },
  });

  test("a job that is reported meanwhile withdraws it", () => {
    expect([...down(reported(["7"]))()]).toEqual(["n1"]);
  });

  test("a report that calls it open and without a job does not: such nodes need no report", () => {
    expect([...down(reported([]))()]).toEqual([]);
  });

  test("its own question does", () => {
    expect([...down({})(new Map([[nodeId("n1"), { askedAt: at(3) }]]))]).toEqual(["n1"]);
  });
});
