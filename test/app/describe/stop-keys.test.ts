import { describe, expect, test } from "vitest";
import type { Answer } from "../../../src/adapters/cyclecloud/transport.ts";
import { describeHealth } from "../../../src/app/describe/describe-health.ts";
import { describeTroubles } from "../../../src/app/describe/describe-troubles.ts";
import { applyIntents } from "../../../src/app/effects/effects.ts";
import { describeStopKeys } from "../../../src/app/describe/node-troubles.ts";
import { composeInMemory } from "../../../src/compose.ts";
import { clusterName } from "../../../src/domain/ids.ts";
import { DEFAULT_POLICY } from "../../../src/domain/policy.ts";
import type { Intent } from "../../../src/domain/intent.ts";
import { VirtualClock } from "../../../src/local/play/virtual-clock.ts";
import { NO_TEMPLATES } from "../../support/no-templates.ts";
import { at, NOW } from "../../support/build-node.ts";
import { BUCKET, buildIntent, buildState } from "../../support/build-record.ts";
import type { Run } from "../../../src/app/effects/run.ts";

const demo = clusterName("demo");

function runOn(answer: (path: string) => Answer): Run {
  const { app } = composeInMemory({
    cluster: demo,
    clock: new VirtualClock(NOW),
    transport: { send: ({ path }) => Promise.resolve(answer(path)) },
    publicUrl: "http://autoscaler.invalid",
    autostopKeys: { current: "k2", byId: new Map(Object.entries({ k2: "new secret", k1: "old secret" })) },
    policy: DEFAULT_POLICY,
    log: () => undefined,
  });
  const site = app.ports.sites.get(demo);
  if (site === undefined) throw new Error("the composition has one cluster");
  return { app, site, policy: DEFAULT_POLICY, deadline: at(60) };
}

describe("what is learnt of a create names the key of the stop URL that was sent", () => {
  const create = (more: Partial<Intent> = {}) =>
    buildIntent("r-1", {
      effect: { kind: "create", sets: [{ bucket: BUCKET, count: 1, purpose: { kind: "array" } }] },
      ...more,
    });
  const accepted: Answer = { status: 202, headers: {}, body: { sets: [{ added: 1 }] } };
  const repeated: Answer = { status: 409, headers: {}, body: "a repeated id" };
  const operation: Answer = { status: 200, headers: {}, body: [{ action: "create" }] };

  test.each([
    { name: "accepted", first: accepted, intent: create(), keyId: "k2", kind: "accepted" },
    { name: "found after a 409", first: repeated, intent: create(), keyId: "k2", kind: "found" },
    {
      name: "found, and another process may have sent it with its own key",
      first: repeated,
      intent: create({ sent: "maybe" }),
      keyId: undefined,
      kind: "found",
    },
  ])("$name", async ({ first, intent, keyId, kind }) => {
    const run = runOn((path) => (path.endsWith("/create") ? first : operation));
    const [finding] = await applyIntents(run, [intent], NO_TEMPLATES);
    expect(finding?.evidence.kind).toBe(kind);
    expect(finding?.evidence).toEqual(
      keyId === undefined
        ? expect.not.objectContaining({ keyId: expect.anything() })
        : expect.objectContaining({ keyId }),
    );
  });
});

describe("keys are rotated with open eyes", () => {
  const used = { stopKeys: [{ keyId: "k1", nodes: 2 }, { keyId: "k2", nodes: 5 }, { nodes: 1 }] };
  const { record, bodies } = buildState({ record: used });

  test("while both are configured: how many nodes carry which", () => {
    const both = { signing: "k2", accepted: ["k2", "k1"] };
    expect(describeStopKeys(record, both)).toEqual([
      { keyId: "k2", nodes: 5, configured: true, signing: true },
      { keyId: "k1", nodes: 2, configured: true },
      { nodes: 1 },
    ]);
    expect(describeHealth(record, undefined, DEFAULT_POLICY, NOW, both).warnings).toEqual([]);
  });

  test("one that was removed too early: a warning in every view", () => {
    const early = { signing: "k2", accepted: ["k2"] };
    const text =
      '2 live nodes carry a stop URL of key "k1", which AUTOSCALER_AUTOSTOP_KEYS does not have: the calls are refused. Put the key back until no live node carries it';
    expect(describeHealth(record, undefined, DEFAULT_POLICY, NOW, early)).toMatchObject({
      ok: true,
      warnings: [text],
    });
    expect(describeTroubles(record, bodies, [], NOW, NOW, early)).toEqual([
      { kind: "stop-key-missing", text, count: 2 },
    ]);
    expect(describeStopKeys(record, early)).toContainEqual({ keyId: "k1", nodes: 2, configured: false });
  });

  test("one that no live node carries: it may go", () => {
    const both = { signing: "k2", accepted: ["k2", "k1"] };
    const { record: later } = buildState({ record: { stopKeys: [{ keyId: "k2", nodes: 5 }] } });
    expect(describeStopKeys(later, both)).toContainEqual({ keyId: "k1", nodes: 0, configured: true });
  });
});
