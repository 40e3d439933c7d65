import { expect, test } from "vitest";
import { describeLosses } from "../../../src/app/describe/describe-under-way.ts";
import { DEFAULT_POLICY } from "../../../src/domain/policy.ts";
import { setName } from "../../../src/domain/ids.ts";
import { NOW } from "../../support/build-node.ts";
import { push } from "../../support/push-message.ts";

const asking = { jobs: [{ name: "j", constraints: [{ ncpus: 4 }] }] };

test("sets that shared no cap before are told that they share one, and a set with a cap of its own is not", () => {
  const { record, bodies } = push({ pbs: asking, slurm: asking, own: asking });
  const caps = {
    requestSets: new Map([
      ["*", { nodes: 3 }],
      [setName("own"), { nodes: 1 }],
    ]),
    users: new Map(),
  };
  const loses = ["a cap of its own: 2 request sets share the cap * of 3 nodes"];
  expect(describeLosses(record, bodies, { ...DEFAULT_POLICY, caps }, NOW)).toEqual([
    { requestSet: "pbs", loses },
    { requestSet: "slurm", loses },
  ]);
});

test("a set that is alone under a cap loses nothing by it", () => {
  const { record, bodies } = push({ pbs: asking });
  const caps = { requestSets: new Map([["*", { nodes: 3 }]]), users: new Map() };
  expect(describeLosses(record, bodies, { ...DEFAULT_POLICY, caps }, NOW)).toEqual([]);
});
