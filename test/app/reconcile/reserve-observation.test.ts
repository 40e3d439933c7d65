import { expect, test } from "vitest";
import type { Cause } from "../../../src/app/effects/run.ts";
import { reserveObservation } from "../../../src/app/reconcile/reserve-observation.ts";
import { composeInMemory } from "../../../src/compose.ts";
import { setName } from "../../../src/domain/ids.ts";
import { DEFAULT_POLICY } from "../../../src/domain/policy.ts";
import { VirtualClock } from "../../../src/local/play/virtual-clock.ts";
import { at, NOW } from "../../support/build-node.ts";
import { buildState, OURS } from "../../support/build-record.ts";
import { SENDER_RULE } from "../../support/sender-rule.ts";

const policy = {
  ...DEFAULT_POLICY,
  senders: ["evil*", "honest"].map((set) => ({ ...SENDER_RULE, requestSets: [set] })),
};

test.each<{ readonly cause: Cause; readonly set: string; readonly rests: boolean }>([
  { cause: "demand", set: "honest", rests: true },
  { cause: "demand", set: "evil-2", rests: false },
  { cause: "tick", set: "honest", rests: false },
])(
  "where a rest is over, the plan for a $cause with demand of $set is one in which it rests on: $rests",
  async ({ cause, set, rests }) => {
    const { app } = composeInMemory({
      cluster: "prod",
      clock: new VirtualClock(NOW),
      transport: { send: () => Promise.reject(new Error("nothing is sent")) },
      publicUrl: "http://autoscaler.invalid",
      autostopKeys: { current: "v", byId: new Map([["v", "no secret"]]) },
      policy,
      log: () => undefined,
    });
    const [site] = app.ports.sites.values();
    if (site === undefined) throw new Error("the composition has a cluster");
    const dear = { sets: [], allOf: [setName("evil-1")], since: at(-90), until: at(-1) };
    const changed = { set: setName(set), isOfAnother: true };
    const { record } = buildState({
      sets: {},
      record: { cluster: site.cluster, generation: 2, dear, changed },
    });
    await app.ports.store.save(record, {}, undefined);
    const run = { app, site, deadline: at(180), owner: OURS, policy, woken: false };
    expect(await reserveObservation(run, cause)).toMatchObject({ kind: "begun" });
    expect((await app.ports.store.load(site.cluster))?.record.dear).toEqual(rests ? dear : undefined);
  },
);
