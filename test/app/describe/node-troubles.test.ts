import { expect, test } from "vitest";
import { describeState } from "../../../src/app/describe/describe-cluster.ts";
import { callsRefused, nodesUnhealthy } from "../../../src/app/describe/node-troubles.ts";
import { nodeId } from "../../../src/domain/ids.ts";
import { DEFAULT_POLICY } from "../../../src/domain/policy.ts";
import type { Question } from "../../../src/domain/questions.ts";
import { at, buildNodes, buildSnapshot, NOW, rememberNodes } from "../../support/build-node.ts";
import { buildState } from "../../support/build-record.ts";

const nodes = buildNodes("n", 4);
function bodiesWith(questions: Readonly<Record<string, Question>>) {
  const { record, bodies } = buildState({ ledger: rememberNodes(nodes), seen: buildSnapshot(nodes) });
  const asked = new Map(Object.entries(questions).map(([id, question]) => [nodeId(id), question]));
  return { record, bodies: { ...bodies, questions: asked } };
}

test("nodes that call themselves unhealthy and stay: by reason, with the count", () => {
  const { bodies } = bodiesWith({
    n1: { askedAt: at(-20), unhealthy: { since: at(-300), held: "job" } },
    n2: { askedAt: at(-30), unhealthy: { since: at(-600), held: "limit" } },
    n3: { stayAt: at(-599), unhealthy: { since: at(-900), held: "limit" } },
    // It has not asked for ten minutes, so whether it is still unhealthy is unknown.
    n4: { askedAt: at(-600), unhealthy: { since: at(-900), held: "job" } },
  });
  expect(
    nodesUnhealthy(bodies, NOW).map(({ kind, count, text }) => [kind, count, text.split(":")[0]]),
  ).toEqual([
    ["nodes-unhealthy", 1, "execute-n1"],
    ["nodes-unhealthy", 2, "execute-n2, execute-n3"],
  ]);
});

test("calls without a node's own token are shown for ten minutes", () => {
  const { bodies } = bodiesWith({
    n1: { refusedAt: at(-60), askedAt: at(-60) },
    n2: { refusedAt: at(-601), askedAt: at(-60) },
  });
  expect(callsRefused(bodies, NOW)).toMatchObject([{ kind: "node-token", count: 1 }]);
  expect(callsRefused(bodies, NOW)[0]?.text).toContain("execute-n1: calls were refused");
});

test("the state page shows since when, and why the node is not stopped", () => {
  const { record, bodies } = bodiesWith({
    n1: { askedAt: at(-20), unhealthy: { since: at(-300), held: "job" } },
  });
  expect(describeState(record, bodies, DEFAULT_POLICY, NOW)).toMatchObject({
    troubles: expect.arrayContaining([expect.objectContaining({ kind: "nodes-unhealthy" })]),
    nodes: {
      list: [
        {
          name: "execute-n1",
          unhealthySince: "2025-11-20T10:55:00.000Z",
          why: "not judged yet; it has called itself unhealthy since 2025-11-20T10:55:00.000Z",
        },
        { name: "execute-n2", unhealthySince: undefined },
        {},
        {},
      ],
    },
  });
});
