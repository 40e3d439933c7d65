import { describe, expect, test } from "vitest";
import type { Node } from "../../../src/domain/cluster.ts";
import type { Decision } from "../../../src/domain/decision.ts";
import type { SchedulerNode } from "../../../src/domain/demand.ts";
import { arrayName, nodeId, placementGroup } from "../../../src/domain/ids.ts";
import type { DownEnd, DownHold } from "../../../src/domain/node-verdict.ts";
import { at } from "../../support/build-node.ts";
import type { Played, Run, Shown, State } from "./down-stage.ts";
import { endedBefore, OFF, playDown, TERMINATED, UNAVAILABLE } from "./down-stage.ts";

const MISSED: Partial<Node> = { ...OFF, missing: { since: at(0), observations: 1 } };
const DEALLOCATED: Partial<Node> = { phase: "deallocated", status: "Deallocated" };
const UNCLEAR: Partial<Node> = { phase: "unknown", status: "Ready" };
const RESTARTING: Partial<Node> = { phase: "coming", status: "Restarting" };

const more =
  (shown: Partial<Node>) =>
  ({ index }: Shown) =>
    index === 0 ? { ...OFF, ...shown } : undefined;

/** The first node has asked a minute before each observation. */
const asks = (state: State, seconds: number): State => ({
  ...state,
  bodies: { ...state.bodies, questions: new Map([[nodeId("n0"), { askedAt: at(seconds - 60) }]]) },
});

/** When the first node ends, by the verdict on it. */
function endOf({ plan }: Decision): DownEnd | undefined {
  const verdict = plan.nodes.get(nodeId("n0"));
  return verdict?.kind === "down" ? verdict.end : undefined;
}

/** Nodes of which the first `share` are shown as Off from the beginning until `until`. */
const firstOff =
  (count: number, until: number) =>
  ({ index }: Shown, seconds: number) =>
    index < count && seconds < until ? OFF : undefined;

const allOff = (until: number) => (_: Shown, seconds: number) => (seconds < until ? OFF : undefined);

const times = ({ ended }: Played): readonly number[] => [...ended.values()].toSorted((a, b) => a - b);

/** docs/protocol.md, Nodes that are down: running nodes that a wrong status ends. */
describe("a status that is wrong about nodes that run", () => {
  test.each([
    { name: "1 of 1 for 6 minutes", arrays: [1], shows: allOff(360), until: 360, most: 1 },
    { name: "4 of 4 for 6 minutes", arrays: [4], shows: allOff(360), until: 360, most: 0 },
    { name: "half of 8 for 6 minutes", arrays: [8], shows: firstOff(4, 360), until: 360, most: 0 },
    { name: "half of 100 for 6 minutes", arrays: [100], shows: firstOff(50, 360), until: 360, most: 0 },
    { name: "100 of 100 for 20 minutes", arrays: [100], shows: allOff(1200), until: 1200, most: 0 },
    {
      name: "100, spreading over 20 minutes, for 30",
      arrays: [100],
      shows: ({ index }: Shown, seconds: number) =>
        seconds >= 12 * index && seconds < 1800 ? OFF : undefined,
      until: 1800,
      most: 1,
    },
    {
      name: "one of each of 3 arrays of 3",
      arrays: [3, 3, 3],
      shows: ({ index }: Shown, seconds: number) => (index % 3 === 0 && seconds < 360 ? OFF : undefined),
      until: 360,
      most: 0,
    },
    {
      name: "one of each of 20 arrays of 2",
      arrays: Array.from({ length: 20 }, () => 2),
      shows: ({ index }: Shown, seconds: number) => (index % 2 === 0 && seconds < 360 ? OFF : undefined),
      until: 360,
      most: 0,
    },
    { name: "25 of 100 for 20 minutes", arrays: [100], shows: firstOff(25, 1200), until: 1200, most: 0 },
    {
      name: "4 of 10 that run beside a hundred deallocated ones",
      arrays: [110],
      shows: ({ index }: Shown, seconds: number) =>
        index >= 10 ? DEALLOCATED : index < 4 && seconds < 360 ? OFF : undefined,
      until: 360,
      most: 0,
    },
    { name: "60 of 60 within the hour", arrays: [60], shows: allOff(3599), until: 3599, most: 0 },
  ])("$name: at most $most ended", ({ arrays, shows, until, most }) => {
    expect(playDown({ arrays, shows, until: until + 1800 }).ended.size).toBeLessThanOrEqual(most);
  });

  test("60 nodes that become Unavailable at once: none is ended, in two hours", () => {
    const played = playDown({ arrays: [60], shows: () => UNAVAILABLE, until: 7200 });
    expect(played.ended.size).toBe(0);
  });
});

describe("a node that was shut down", () => {
  const one = { arrays: [10], until: 3600 };

  test.each([
    { name: "Off", shown: OFF, ends: 300 },
    { name: "Terminated", shown: TERMINATED, ends: 300 },
  ])("shown as $name: it ends after 300 s, without demand and without a report", ({ shown, ends }) => {
    const played = playDown({ ...one, shows: ({ index }) => (index === 0 ? shown : undefined) });
    expect([...played.ended]).toEqual([[0, ends]]);
  });

  test("a ShutdownPolicy of Deallocate: it is deallocated then, and not terminated", () => {
    const shows = ({ index }: Shown) => (index === 0 ? OFF : undefined);
    const { ended, decisions } = playDown({
      ...one,
      shows,
      of: (array) => ({ ...array, deallocates: true }),
    });
    expect([...ended]).toEqual([[0, 300]]);
    expect(decisions.flatMap(({ decision }) => decision.plan.deallocates ?? [])).toEqual(["n0"]);
  });

  test("any other status begins its clock again", () => {
    const shows = ({ index }: Shown, seconds: number) =>
      index !== 0 ? undefined : seconds === 240 ? { ...OFF, status: "Restarting" } : OFF;
    expect(times(playDown({ ...one, shows }))).toEqual([600]);
  });
});

describe("what keeps a node that is down", () => {
  const first = ({ index }: Shown) => (index === 0 ? OFF : undefined);
  const hour = { arrays: [10], shows: first, until: 3600 };
  const report = (jobs: readonly string[], more: Partial<SchedulerNode> = {}) => ({
    sets: {
      pbs: { report: [{ hostname: "ip-n0", jobs, ...more }], intervalSeconds: 80_000 },
    },
  });

  test.each<{ name: string; run: Partial<Run>; held: DownHold }>([
    { name: "KeepAlive", run: { shows: more({ keepAlive: true }) }, held: "keep-alive" },
    { name: "stop_enabled false", run: { shows: more({ stopDisabled: true }) }, held: "stop-disabled" },
    { name: "a report that names a job", run: { scenario: report(["7"]) }, held: "busy" },
    { name: "downTimeout: never", run: { policy: { downTimeout: { every: "never" } } }, held: "never" },
    {
      name: "never for its node array",
      run: { policy: { downTimeout: { every: 300, byArray: new Map([["a0", "never"]]) } } },
      held: "never",
    },
    { name: "a question of its own", run: { before: asks }, held: "asked" },
    { name: "the mode observe", run: { policy: { mode: "observe" } }, held: "observed" },
  ])("$name", ({ run, held }) => {
    const { ended, last } = playDown({ ...hour, ...run });
    expect(ended.size).toBe(0);
    expect(endOf(last)?.held).toBe(held);
  });

  test("another tool made it: it is never ended", () => {
    const { ended, last } = playDown({ ...hour, foreign: true });
    expect(ended.size).toBe(0);
    expect(endOf(last)).toEqual({ held: "not-ours" });
  });

  test.each([
    { name: "KeepAlive is taken away", shows: (s: number) => (s < 1200 ? { ...OFF, keepAlive: true } : OFF) },
    { name: "the observation lacks it no more", shows: (s: number) => (s < 900 ? MISSED : OFF) },
    { name: "its record is clear again", shows: (s: number) => (s < 900 ? UNCLEAR : OFF) },
    {
      name: "its reimaging is over",
      shows: (s: number) => (s < 900 ? { ...OFF, status: "Reimaging" } : OFF),
    },
    { name: "it is no longer being restarted", shows: (s: number) => (s < 900 ? RESTARTING : OFF) },
  ])("it ends once $name", ({ shows }) => {
    const played = playDown({ ...hour, shows: ({ index }, s) => (index === 0 ? shows(s) : undefined) });
    expect(times(played)).toEqual([1200]);
  });

  test("another tool starts it again: it has its boot timeout", () => {
    const shows = ({ index }: Shown, s: number) =>
      index !== 0 ? undefined : s < 120 ? { phase: "going" as const, status: "Stopping" } : OFF;
    const played = playDown({ ...hour, shows, policy: { bootTimeoutSeconds: 1200 } });
    expect(times(played)).toEqual([1320]);
  });

  test("a member of a placement group waits until no other is busy", () => {
    const group = placementGroup("g");
    const shows = ({ index }: Shown) => ({ placementGroup: group, ...(index === 0 ? OFF : {}) });
    const busy = { pbs: { report: [{ hostname: "ip-n1", jobs: ["7"] }], intervalSeconds: 600 } };
    const played = playDown({ ...hour, shows, scenario: { sets: busy } });
    expect(times(played)).toEqual([600]);
  });

  test("a status that took long counts for nothing, and nothing ends on it", () => {
    const slow = (seconds: number) => seconds < 240 || seconds === 360;
    expect(times(playDown({ ...hour, slow }))).toEqual([420]);
  });

  test("three observations are needed, however short downTimeout is", () => {
    const played = playDown({ ...hour, policy: { downTimeout: { every: 0 } } });
    expect(times(played)).toEqual([120]);
  });

  test("an outage of the app begins its clock again", () => {
    const gap = (state: State, seconds: number): State =>
      seconds === 240 ? { ...state, record: { ...state.record, lastGoodLookAt: at(-600) } } : state;
    const { ended, decisions } = playDown({ ...hour, before: gap });
    const known = decisions.find(({ seconds }) => seconds === 240)?.decision.ledger.get(nodeId("n0"));
    expect(known?.down).toEqual({ how: "off", since: at(240), observations: 1 });
    expect([...ended.values()]).toEqual([540]);
  });
});

describe("bounds", () => {
  test("of 100 nodes that are down one after the other 10 end in ten minutes", () => {
    const played = playDown({
      arrays: [100],
      shows: ({ index }, seconds) => (index < 20 && seconds >= 0 ? OFF : undefined),
      until: 1000,
    });
    expect(times(played).map((seconds) => Math.floor(seconds / 600))).toEqual([
      ...Array.from({ length: 10 }, () => 0),
      // 90 are left.
      ...Array.from({ length: 9 }, () => 1),
    ]);
  });

  test("of twenty arrays of two, four nodes of all together", () => {
    const arrays = Array.from({ length: 20 }, () => 2);
    const shows = ({ index }: Shown) => (index % 2 === 0 && index < 10 ? OFF : undefined);
    expect(endedBefore(playDown({ arrays, shows, until: 890 }), 890)).toBe(4);
  });

  test("a single node is an array of its own", () => {
    expect(times(playDown({ arrays: [1], shows: () => OFF, until: 900 }))).toEqual([300]);
  });
});

describe("a wave", () => {
  test("all ten nodes shut themselves down for good: after an hour one ends in ten minutes", () => {
    const played = playDown({ arrays: [10], shows: () => OFF, until: 6000 });
    expect(times(played)).toEqual([3600, 4205, 4810, 5415]);
  });

  test("a node that a report in force names without a job waits its downTimeout only", () => {
    const sets = { pbs: { report: [{ hostname: "ip-n3", jobs: [] }], intervalSeconds: 80_000 } };
    const played = playDown({ arrays: [10], shows: () => OFF, until: 1200, scenario: { sets } });
    expect([...played.ended.keys()]).toEqual([3]);
  });

  test("when it is over, the clocks of those still down begin again", () => {
    const shows = ({ index }: Shown, seconds: number) =>
      index === 0 || (index < 40 && seconds < 300) ? OFF : undefined;
    const played = playDown({ arrays: [100], shows, until: 3000 });
    // It is calm from second 300 on, over at 900, and the last one has 300 s from then.
    expect([...played.ended]).toEqual([[0, 1200]]);
  });

  test("failed nodes with a failedTimeout keep to the same bounds, and without one they stay", () => {
    const policy = { failedTimeout: { every: 300 } };
    const one = ({ index }: Shown) => (index === 0 ? UNAVAILABLE : undefined);
    expect(times(playDown({ arrays: [10], shows: one, until: 900, policy }))).toEqual([300]);
    expect(playDown({ arrays: [60], shows: () => UNAVAILABLE, until: 3000, policy }).ended.size).toBe(0);
  });
});

describe("end-down", () => {
  const never = { policy: { downTimeout: { every: "never" } }, until: 3600 } as const;
  const ordered = (state: State, seconds: number): State =>
    seconds === 900
      ? {
          ...state,
          record: { ...state.record, endDown: [{ array: arrayName("a0"), at: at(900), until: at(2700) }] },
        }
      : state;

  test("ends what is down, one of ten in ten minutes, until it is over", () => {
    const shows = ({ index }: Shown) => (index < 8 ? OFF : undefined);
    const played = playDown({ ...never, arrays: [10], shows, before: ordered });
    expect([...played.ended]).toEqual([
      [0, 900],
      [1, 1505],
      [2, 2110],
    ]);
    expect(played.last.record.endDown).toBeUndefined();
  });

  test("names what is down at that moment, and nothing that goes down later", () => {
    const shows = ({ index }: Shown, seconds: number) =>
      index === 0 || (index === 9 && seconds > 1000) ? OFF : undefined;
    expect([...playDown({ ...never, arrays: [10], shows, before: ordered }).ended]).toEqual([[0, 900]]);
  });

  test("looks at every exception again", () => {
    const shows = ({ index }: Shown) => (index === 0 ? { ...OFF, keepAlive: true } : undefined);
    expect(playDown({ ...never, arrays: [10], shows, before: ordered }).ended.size).toBe(0);
  });

  test("does not mean the nodes of another array", () => {
    const shows = ({ array }: Shown) => (array === "a1" ? OFF : undefined);
    expect(playDown({ ...never, arrays: [10, 10], shows, before: ordered }).ended.size).toBe(0);
  });
});
