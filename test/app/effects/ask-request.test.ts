import { describe, expect, test } from "vitest";
import type { Answer } from "../../../src/adapters/cyclecloud/transport.ts";
import { knowsRequest } from "../../../src/app/effects/effects.ts";
import { PortError } from "../../../src/app/ports/port-error.ts";
import { composeInMemory } from "../../../src/compose.ts";
import { clusterName, requestId } from "../../../src/domain/ids.ts";
import { DEFAULT_POLICY } from "../../../src/domain/policy.ts";
import { VirtualClock } from "../../../src/local/play/virtual-clock.ts";
import { at, NOW } from "../../support/build-node.ts";
import type { Run } from "../../../src/app/effects/run.ts";

const demo = clusterName("demo");
const id = requestId("4f3c2b1a-0000-4000-8000-000000000001");

/** A run on a CycleCloud that answers so to each path. */
function runOn(answer: (path: string) => Promise<Answer>): Run {
  const { app } = composeInMemory({
    cluster: demo,
    clock: new VirtualClock(NOW),
    transport: { send: ({ path }) => answer(path) },
    publicUrl: "http://autoscaler.invalid",
    autostopKeys: { current: "v", byId: new Map([["v", "no secret"]]) },
    policy: DEFAULT_POLICY,
    log: () => undefined,
  });
  const site = app.ports.sites.get(demo);
  if (site === undefined) throw new Error("the composition has one cluster");
  // The password has been accepted before: until then calls go out one by one.
  app.lanes.trials.accepted.add(site.credential);
  return { app, site, policy: DEFAULT_POLICY, deadline: at(60) };
}

describe("whether a request is known, by two witnesses", () => {
  const found: Answer = { status: 200, headers: {}, body: [{ action: "create" }] };
  const none: Answer = { status: 200, headers: {}, body: [] };
  const broken: Answer = { status: 500, headers: {}, body: undefined };
  const unknown: Answer = { status: 404, headers: {}, body: undefined };
  const oneNode: Answer = { status: 200, headers: {}, body: { nodes: [{ NodeId: "n1", Name: "hpc-1" }] } };
  const noNodes: Answer = { status: 200, headers: {}, body: { nodes: [] } };

  const asked = (operations: Answer | undefined, nodes: Answer | undefined) =>
    knowsRequest(
      runOn((path) => {
        const answer = path === "/operations/" ? operations : nodes;
        return answer === undefined ? new Promise(() => undefined) : Promise.resolve(answer);
      }),
      id,
    );

  test.each([
    { name: "the operation is there, the nodes hang", operations: found, nodes: undefined, known: true },
    { name: "the operations hang, nodes are there", operations: undefined, nodes: oneNode, known: true },
    { name: "no operation, but nodes", operations: none, nodes: oneNode, known: true },
    { name: "the operations fail, nodes are there", operations: broken, nodes: oneNode, known: true },
    { name: "no operation, an empty list", operations: none, nodes: noNodes, known: false },
    { name: "no operation, the nodes fail", operations: none, nodes: broken, known: false },
    { name: "the operations fail, no such request", operations: broken, nodes: unknown, known: false },
  ])("$name: $known", async ({ operations, nodes, known }) => {
    expect(await asked(operations, nodes)).toBe(known);
  });

  test.each([
    { name: "an empty list proves nothing", nodes: noNodes },
    { name: "both fail", nodes: broken },
  ])("the operations fail, and $name: nobody can tell", async ({ nodes }) => {
    const error = await asked(broken, nodes).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(PortError);
    expect(error).toMatchObject({ kind: "unexpected", operation: "GET /operations/", status: 500 });
  });
});
