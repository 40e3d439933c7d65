import { expect, test } from "vitest";
import { standingsOf } from "../../../src/decide/nodes/standing.ts";
import type { Node } from "../../../src/domain/cluster.ts";
import { nodeId } from "../../../src/domain/ids.ts";
import type { LedgerNode } from "../../../src/domain/ledger.ts";
import type { NodeStanding } from "../../../src/domain/node-standing.ts";
import { standingIn, WORTH } from "../../../src/domain/node-standing.ts";
import { DEFAULT_POLICY } from "../../../src/domain/policy.ts";
import type { Questions, UnhealthyHold } from "../../../src/domain/questions.ts";
import { at, buildNode, buildSnapshot, NOW, rememberNodes } from "../../support/build-node.ts";

/** The standing of one node of each kind, with what the plan knows of it. */
interface Scene {
  readonly node?: Partial<Node>;
  readonly known?: Partial<LedgerNode>;
  readonly stopped?: true;
  readonly says?: UnhealthyHold;
  readonly standing: NodeStanding;
}

const marked = { since: at(-30), by: "unhealthy", plan: 6, attempts: 0 } as const;
const missing = { since: at(-20), observations: 1 };
const scenes: readonly Scene[] = [
  { standing: { kind: "up" } },
  { says: "job", standing: { kind: "full", full: true } },
  { node: { phase: "coming" }, standing: { kind: "coming", until: at(3500) } },
  {
    node: { phase: "deallocated" },
    known: { deallocated: true, start: { state: "unsure", since: NOW } },
    standing: { kind: "starting" },
  },
  { node: { phase: "deallocated" }, known: { deallocated: true }, standing: { kind: "startable" } },
  { node: { missing }, standing: { kind: "doubted", why: "missing", since: at(-20), until: at(40) } },
  {
    node: { missing },
    says: "job",
    standing: { kind: "doubted", why: "missing", since: at(-20), until: at(40), full: true },
  },
  { stopped: true, standing: { kind: "doubted", why: "stop", open: true } },
  {
    node: { phase: "unknown" },
    known: { unclearSince: at(-60) },
    standing: { kind: "doubted", why: "unclear", since: at(-60), until: at(3540) },
  },
  {
    node: { phase: "failed" },
    known: { busyness: { state: "busy", since: NOW } },
    standing: { kind: "kept", why: "failed", kept: true },
  },
  {
    node: { phase: "coming" },
    known: { firstSeenAt: at(-3600) },
    standing: { kind: "replaced", why: "late", until: NOW },
  },
  {
    node: { phase: "coming", unexpectedStatus: true },
    known: { firstReadyAt: at(-900), leftReadyAt: at(-70) },
    standing: { kind: "replaced", why: "down", since: at(-70), until: at(-10) },
  },
  { says: "limit", standing: { kind: "closed" } },
  { known: { draining: marked }, standing: { kind: "unfit" } },
  { known: { draining: { ...marked, sentAt: at(-20) } }, standing: { kind: "stopping" } },
  {
    says: "limit",
    known: { draining: { ...marked, by: "idle", sentAt: at(-20) } },
    standing: { kind: "stopping" },
  },
  { node: { phase: "going" }, standing: { kind: "going" } },
  { node: { phase: "off" }, standing: { kind: "off" } },
  {
    node: { phase: "deallocated", keepAlive: true },
    known: { deallocated: true },
    standing: { kind: "deallocated" },
  },
  { node: { phase: "unknown" }, standing: { kind: "unknown", until: at(3500) } },
];

test.each(scenes)(
  "a node is $standing.kind, $standing.why",
  ({ node: more, known, stopped, says, standing }) => {
    const node = buildNode("n1", more);
    const questions: Questions =
      says === undefined
        ? new Map()
        : new Map([[nodeId("n1"), { askedAt: NOW, unhealthy: { since: NOW, held: says } }]]);
    const seen = {
      snapshot: buildSnapshot([node]),
      ledger: rememberNodes([node], known),
      open: new Set(stopped === true ? [nodeId("n1")] : []),
      questions,
    };
    expect(standingIn(standingsOf(seen, DEFAULT_POLICY, NOW), nodeId("n1"))).toEqual(standing);
  },
);

test("each kind has a scene", () => {
  expect([...new Set(scenes.map(({ standing }) => standing.kind))]).toEqual(Object.keys(WORTH));
});
