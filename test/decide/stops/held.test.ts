import { describe, expect, test } from "vitest";
import { judgeStops } from "../../../src/decide/autostop/judge-stops.ts";
import type { Question } from "../../../src/domain/questions.ts";
import { nodeId } from "../../../src/domain/ids.ts";
import { DEFAULT_POLICY } from "../../../src/domain/policy.ts";
import type { Instant } from "../../../src/domain/units.ts";
import { buildCall } from "../../support/build-call.ts";
import {
  at,
  buildArray,
  buildBucket,
  buildNodes,
  buildSnapshot,
  D8,
  NOW,
  rememberNodes,
} from "../../support/build-node.ts";
import { buildState } from "../../support/build-record.ts";
import type { Pushed } from "../../support/push-message.ts";
import { countCreated, decideOn, push } from "../../support/push-message.ts";

/** Nodes that call themselves unhealthy and stay (409, `undrain` false): they open no more, so they take no demand. */

/** A number of nodes of eight cores that are up, and room for 40 in all. */
function clusterOf(
  count: number,
  unhealthy: Readonly<Record<string, Question>>,
  sets: Readonly<Record<string, Pushed>>,
) {
  const nodes = buildNodes("n", count, { machineType: D8 });
  const bucket = buildBucket(D8, 8, { availableCount: 40 - count, maxCount: 40 });
  const snapshot = buildSnapshot(nodes, { arrays: [buildArray("execute", { buckets: [bucket] })] });
  const { record, bodies } = push(sets, buildState({ ledger: rememberNodes(nodes), seen: snapshot }));
  const questions = new Map(Object.entries(unhealthy).map(([id, question]) => [nodeId(id), question]));
  return { snapshot, state: { record, bodies: { ...bodies, questions } } };
}

const held = (reason: "job" | "limit", askedAt: Instant = NOW): Question => ({
  askedAt,
  stayAt: askedAt,
  unhealthy: { since: askedAt, held: reason },
});
const job = (name: string, ncpus: number, more: object = {}) => ({ name, constraints: [{ ncpus }], ...more });
const created = ({ snapshot, state }: ReturnType<typeof clusterOf>): number =>
  countCreated(decideOn(state, snapshot));

describe("a node that stays only as enough others went", () => {
  test.each([
    { name: "a job", set: { jobs: [job("j", 8)] } },
    { name: "a target", set: { nodearrays: [{ Name: "execute", TargetCount: 1 }] } },
  ])("is no capacity: a node is made for $name", ({ set }) => {
    expect(created(clusterOf(1, { n1: held("limit") }, { pbs: set }))).toBe(1);
    expect(created(clusterOf(1, {}, { pbs: set }))).toBe(0);
  });

  test("is capacity again ten minutes after its last such call", () => {
    expect(created(clusterOf(1, { n1: held("limit", at(-599)) }, { pbs: { jobs: [job("j", 8)] } }))).toBe(1);
    expect(created(clusterOf(1, { n1: held("limit", at(-600)) }, { pbs: { jobs: [job("j", 8)] } }))).toBe(0);
  });

  test("if all of 20 nodes say so, demand of three of them goes elsewhere: the others count as before", () => {
    const all = Object.fromEntries(buildNodes("n", 20).map(({ nodeId: id }) => [id, held("limit")]));
    const target = { nodearrays: [{ Name: "execute", TargetCount: 20 }] };
    expect(created(clusterOf(20, all, { pbs: target }))).toBe(3);
  });

  test("nor does it stand in for another node that asks; one that asks by itself is weighed as before", () => {
    const { state } = clusterOf(2, { n1: held("limit") }, { pbs: { jobs: [job("j", 8)] } });
    const ask = (id: string) =>
      judgeStops(state.record, state.bodies, [buildCall(id)], DEFAULT_POLICY, NOW).verdicts[0]?.kind;
    expect(ask("n2")).toBe("needed");
    expect(ask("n1")).toBe("marked");
  });
});

describe("a node that stays only as a job is on it", () => {
  const run = job("run", 2, { placed: [{ hostname: "ip-n1", iterations: 1 }] });
  test("takes no more jobs, and its own is not asked for again", () => {
    const waiting = { jobs: [run, job("j", 4)] };
    expect(created(clusterOf(1, { n1: held("job") }, { pbs: waiting }))).toBe(1);
    expect(created(clusterOf(1, { n1: held("job") }, { pbs: { jobs: [run] } }))).toBe(0);
    expect(created(clusterOf(1, {}, { pbs: waiting }))).toBe(0);
  });

  test("also where its scheduler says what is left", () => {
    const report = { schedulerNodes: [{ hostname: "ip-n1", jobs: ["run"], available: { ncpus: 6 } }] };
    const waiting = { jobs: [run, job("j", 4)], ...report };
    expect(created(clusterOf(1, { n1: held("job") }, { pbs: waiting }))).toBe(1);
    expect(created(clusterOf(1, {}, { pbs: waiting }))).toBe(0);
  });
});
