import { expect, test } from "vitest";
import { describeTroubles } from "../../../src/app/describe/describe-troubles.ts";
import { setName } from "../../../src/domain/ids.ts";
import type { LedgerNode } from "../../../src/domain/ledger.ts";
import { DEFAULT_POLICY } from "../../../src/domain/policy.ts";
import type { SenderRule } from "../../../src/domain/sender-rules.ts";
import { at, buildNodes, NOW, rememberNodes } from "../../support/build-node.ts";
import { buildJob, buildState } from "../../support/build-record.ts";
import { SENDER_RULE } from "../../support/sender-rule.ts";

/** What is said of jobs that a set claims on nodes of another sender. */

const nodes = buildNodes("n", 2);
const hosts = ["ip-n1", "ip-n2"];
const senders = ["pbs", "evil-*"].map((name): SenderRule => ({ ...SENDER_RULE, requestSets: [name] }));

function troublesWith(
  claimedSeconds: number,
  jobs: readonly string[] = [],
  more: Partial<LedgerNode> = {},
): readonly string[] {
  const claims: Partial<LedgerNode> = {
    askedBy: [setName("pbs")],
    claims: [{ set: setName("evil-1"), since: at(-claimedSeconds) }],
    ...more,
  };
  const placed = hosts.map((hostname) => ({ hostname, iterations: 1 }));
  const { record, bodies } = buildState({
    sets: {
      pbs: { demands: [], report: hosts.map((hostname) => ({ hostname, jobs })), sentAt: at(-10) },
      "evil-2": { demands: [buildJob("ghost", 2, { placed })] },
    },
    ledger: rememberNodes(nodes, claims),
  });
  const policy = { ...DEFAULT_POLICY, senders };
  return describeTroubles(record, bodies, [], NOW, NOW, undefined, policy)
    .filter(({ kind }) => kind === "claims-ended")
    .map(({ text, count }) => `${count}: ${text}`);
}

test("after an hour, whatever the set is called now", () => {
  expect(troublesWith(3599)).toEqual([]);
  expect(troublesWith(3600)).toEqual([
    "2: request set evil-1: says that its jobs run on execute-n1, execute-n2. Another sender asked for these nodes and calls them idle, so the jobs no longer count there after an hour. If they do run, let the set of a rule that has these jobs report the hosts, too",
  ]);
});

test("nothing is said where the sender that asked for the nodes reports a job there", () => {
  expect(troublesWith(7200, ["other"])).toEqual([]);
});

test("a claim on a node that is gone says nothing of a new one of its name", () => {
  expect(troublesWith(7200, [], { goneAt: at(-60) })).toEqual([]);
});
