import { describe, expect, test } from "vitest";
import type { Backoff } from "../../../src/domain/record.ts";
import { requestId } from "../../../src/domain/ids.ts";
import type { LedgerNode } from "../../../src/domain/ledger.ts";
import { renderReason } from "../../../src/domain/reason-text.ts";
import { renderRemedy } from "../../../src/domain/remedy.ts";
import { at, buildNode, D4, EXECUTE } from "../../support/build-node.ts";
import { buildJob, BUCKET } from "../../support/build-record.ts";
import { needing } from "../../support/build-constraints.ts";
import { OFF } from "../stops/down-stage.ts";
import type { Case } from "./dynamic-scenario.ts";
import { creates, execute, LICENSED, licensed, plan } from "./dynamic-scenario.ts";

/* docs/protocol.md, Nodes that are down: after the pause one node is tried. */

const PAUSED: Backoff = {
  bucket: BUCKET,
  until: at(-1),
  seconds: 60,
  cause: "went-down",
  message: "n9 was shown as Off 300 s after it was Ready, like others before it",
};

const one = (known: Partial<LedgerNode>, more = {}): Pick<Case, "nodes" | "made"> => ({
  nodes: [buildNode("n1", more)],
  made: { n1: known },
});

const down = { firstReadyAt: at(-900), leftReadyAt: at(-200) };

describe("after the pause of a bucket whose nodes went down soon after they were Ready", () => {
  test.each<Case & { readonly name: string; readonly expected: readonly string[] }>([
    { name: "one node is tried", expected: ["1 of execute/Standard_D4s_v5 for the array"] },
    { name: "no other while it boots", ...one({}, { phase: "coming", status: "Preparing" }), expected: [] },
    {
      name: "nor while it is in flight",
      record: {
        inFlight: [
          {
            requestId: requestId("r"),
            bucket: BUCKET,
            purpose: { kind: "array" },
            added: 1,
            seen: [],
            since: at(-5),
          },
        ],
      },
      expected: [],
    },
    { name: "nor until it has lasted", ...one({ firstReadyAt: at(-1799) }), expected: [] },
    {
      name: "a node that had lasted before is no try",
      ...one({ firstReadyAt: at(-1801) }),
      expected: ["1 of execute/Standard_D4s_v5 for the array"],
    },
    {
      name: "nor is one that is down",
      ...one({ ...down, down: { how: "off", since: at(-200), observations: 3 } }, OFF),
      expected: ["1 of execute/Standard_D4s_v5 for the array"],
    },
    {
      name: "a job that needs four nodes together is tried whole, once",
      demands: [buildJob("gang", 1, { nodeCount: 4, constraints: needing({ ncpus: 4 }) }), execute(10)],
      expected: ["4 of execute/Standard_D4s_v5 for the array"],
    },
    {
      name: "a dynamic array is tried by itself",
      demands: [execute(3), licensed(5)],
      record: { backoffs: [{ ...PAUSED, dynamic: LICENSED }] },
      expected: ["3 of execute/Standard_D4s_v5 for the array", "1 of execute/Standard_D4s_v5 for licensed"],
    },
    {
      name: "after another pause all is created",
      record: { backoffs: [{ ...PAUSED, cause: "boot-failed" }] },
      expected: ["10 of execute/Standard_D4s_v5 for the array"],
    },
  ])("$name", ({ expected, demands = [execute(10)], record, ...more }) => {
    expect(creates(plan({ demands, record: { backoffs: [PAUSED], ...record }, ...more }))).toEqual(expected);
  });

  test("one node is tried beside as many jobs as a cluster may have", () => {
    const jobs = Array.from({ length: 200_000 }, (_, position) => buildJob(`j${position}`, 1, { position }));
    expect(creates(plan({ demands: jobs, record: { backoffs: [PAUSED] } }))).toEqual([
      "1 of execute/Standard_D4s_v5 for the array",
    ]);
  });

  test("the rest of the demand says what it waits for", () => {
    const { plan: made } = plan({ demands: [execute(10)], record: { backoffs: [PAUSED] } });
    const [{ reasons, binding } = { reasons: [] }] = made.demands;
    expect(reasons.map(renderReason)).toEqual([
      `probe of ${EXECUTE}/${D4}, whose nodes went down soon after they were Ready: 1 of 1 nodes used, 9 more needed, 0 left`,
    ]);
    expect(binding && renderRemedy(binding)).toBe(
      "a node of execute/Standard_D4s_v5 that stays Ready for half an hour would place all of it",
    );
  });
});
