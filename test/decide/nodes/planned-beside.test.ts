import { describe, expect, test } from "vitest";
import { judgeStops } from "../../../src/decide/autostop/judge-stops.ts";
import type { Policy } from "../../../src/domain/policy.ts";
import { DEFAULT_POLICY } from "../../../src/domain/policy.ts";
import { digest, nodeId } from "../../../src/domain/ids.ts";
import { renderVerdict } from "../../../src/domain/node-verdict.ts";
import { buildCall } from "../../support/build-call.ts";
import { at, buildArray, buildBucket, buildNode, buildSnapshot, D8 } from "../../support/build-node.ts";
import type { Pushed, State } from "../../support/push-message.ts";
import { decideOn, push } from "../../support/push-message.ts";

/**
 * Set pbs asks for a job and reports no hosts: the plan places the job on node a, and it runs there. Set evil reports that host idle. Its
 * word must not count while the job is asked for: no other report says where the job is.
 */

/** The nodes here have no request of ours: the array is ours alone. */
const ALONE: Policy = { ...DEFAULT_POLICY, exclusiveArrays: true };

const oneNode = buildSnapshot([buildNode("a", { machineType: D8 })], {
  arrays: [buildArray("execute", { buckets: [buildBucket(D8, 8, { availableCount: 10, maxCount: 10 })] })],
});
const job = (name: string, more: object = {}) => ({ name, constraints: [{ ncpus: 4 }], ...more });
const asks = (...jobs: readonly object[]): Pushed => ({ jobs });
const reports = (more: object = {}): Pushed => ({
  jobs: [],
  schedulerNodes: [{ hostname: "ip-a", jobs: [], ...more }],
});
const full = { available: { ncpus: 0 } };

/** The state after this message and the plan of that minute; of the plan what it stops. */
function step(state: State | undefined, minute: number, sets: Readonly<Record<string, Pushed>>) {
  const now = at(60 * minute);
  const sent = Object.entries(sets).map(([set, message]) => [set, { ...message, sentAt: now }] as const);
  const { record, bodies } = push(Object.fromEntries(sent), state);
  const decision = decideOn({ record, bodies }, oneNode, { now, policy: ALONE });
  const { ledger, questions, seen, plan } = decision;
  return {
    state: { record: decision.record, bodies: { ...bodies, ledger, questions, seen, plan } },
    stops: plan.terminates,
    now,
  };
}

/** What half an hour of such messages stops, one of each set a minute, after pbs has asked for job run once. */
function play(
  sets: Readonly<Record<string, Pushed>>,
  from: State = step(undefined, 0, { pbs: asks(job("run")) }).state,
) {
  let state = from;
  const stops: string[] = [];
  for (let minute = 1; minute <= 30; minute += 1) {
    const next = step(state, minute, sets);
    stops.push(...next.stops);
    state = next.state;
  }
  return { state, stops };
}

/** What node a hears when it asks. */
function ask({ record, bodies }: State, minute: number, more: object = {}, policy: Policy = ALONE) {
  const now = at(60 * minute);
  const [verdict] = judgeStops(
    record,
    bodies,
    [buildCall("a", { arrivedAt: now, ...more })],
    policy,
    now,
  ).verdicts;
  return verdict;
}

describe("a job of one set was planned on the node, and another set alone reports the host idle", () => {
  test.each([
    { name: "without more", more: {} },
    { name: "and closed", more: { state: "closed" } },
    { name: "and full", more: full },
    { name: "closed and full", more: { state: "closed", ...full } },
  ])("$name: the node is not stopped, and its callback is refused", ({ more }) => {
    const { state, stops } = play({ pbs: asks(job("run")), evil: reports(more) });
    expect(stops).toEqual([]);
    expect(state.bodies.ledger.get(nodeId("a"))?.draining).toBeUndefined();
    expect(ask(state, 30)).toMatchObject({ kind: "needed", undrain: true });
  });

  test("it is stopped once the job is no longer asked for", () => {
    expect(play({ pbs: asks(), evil: reports(full) }).stops).toContain("a");
  });

  test("it is stopped once the job's own set says that the job is elsewhere", () => {
    const elsewhere = asks(job("run", { placed: [{ hostname: "ip-z", iterations: 1 }] }));
    expect(play({ pbs: elsewhere, evil: reports(full) }).stops).toContain("a");
  });

  test("it is stopped on the word of the set that asks for the job", () => {
    const both = { ...asks(job("run")), schedulerNodes: [{ hostname: "ip-a", jobs: [], ...full }] };
    expect(play({ pbs: both }).stops).toContain("a");
    expect(play({ pbs: both, evil: reports(full) }).stops).not.toContain("b");
  });

  test("that word is no scheduler's word for a node that calls itself unhealthy", () => {
    const { state } = step(step(undefined, 0, { pbs: asks(job("run")) }).state, 1, {
      evil: reports({ state: "closed" }),
    });
    const unhealthyStops = [{ array: buildNode("a").array, at: at(0), count: 3 }];
    const held = { ...state, record: { ...state.record, unhealthyStops } };
    expect(ask(held, 1, { unhealthy: true })).toMatchObject({ kind: "needed", held: "limit" });
    expect(ask(state, 1, { unhealthy: true })).toMatchObject({ kind: "marked" });
  });

  test("and another caller than the bound one does not speak for the node on that word", () => {
    const { state } = step(step(undefined, 0, { pbs: asks(job("run")) }).state, 1, { evil: reports() });
    const known = state.bodies.ledger.get(nodeId("a"));
    if (known?.instanceId === undefined) throw new Error("no node");
    const own = { ...known, bound: { token: digest("own"), instanceId: known.instanceId } };
    const bound = { ...state, bodies: { ...state.bodies, ledger: new Map([[known.nodeId, own]]) } };
    expect(ask(bound, 1)).toMatchObject({ kind: "forbidden", unbound: true });
  });
});

test("a node that stays for this reason names the set whose job may be there", () => {
  const { state } = play({ pbs: asks(job("run")), evil: reports(full) });
  const verdict = state.bodies.plan?.nodes.get(nodeId("a"));
  expect(verdict === undefined ? undefined : renderVerdict(verdict)).toBe(
    "stays: not needed; busy state unknown: demand of request set pbs was planned on it, and that set does not report its host",
  );
});
