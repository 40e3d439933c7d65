import { describe, expect, test } from "vitest";
import { arrayName, requestId } from "../../../src/domain/ids.ts";
import type { PriceTable } from "../../../src/domain/price.ts";
import type { InFlight } from "../../../src/domain/record.ts";
import {
  buildArray,
  buildBucket,
  buildLedger,
  buildNode,
  D4,
  D8,
  NOW,
  rememberNode,
} from "../../support/build-node.ts";
import { BUCKET, buildJob, buildTarget } from "../../support/build-record.ts";
import { CHEAP, SPOT, quota, full, execute, cheap, plan, creates } from "../../support/spot-case.ts";

describe("its nodes are spot nodes to jobs", () => {
  const room = execute({ ...full, availableCount: 100, familyQuota: quota(400, 16) });

  test.each([
    {
      spot: "never" as const,
      expected: [`1 of execute/${D4} undefined`, `1 of execute/${D4} {"Interruptible":true}`],
    },
    { spot: "only" as const, expected: [`2 of execute/${D4} {"Interruptible":true}`] },
    { spot: "allow" as const, expected: [`2 of execute/${D4} {"Interruptible":true}`] },
  ])("planned for a target: a job with spot $spot", ({ spot, expected }) => {
    const job = buildJob("j", 1, { spot, position: 2 });
    expect(creates(plan({ demands: [buildTarget(2, { attributes: SPOT }), job], arrays: [room] }))).toEqual(
      expected,
    );
  });

  test.each([
    { spot: "never" as const, expected: 1 },
    { spot: "only" as const, expected: 0 },
  ])("in flight for a target: a job with spot $spot makes $expected nodes", ({ spot, expected }) => {
    const inFlight: InFlight = {
      requestId: requestId("r"),
      bucket: BUCKET,
      purpose: { kind: "array" },
      spot: true,
      added: 1,
      seen: [],
      since: NOW,
    };
    const job = buildJob("j", 1, { spot, position: 2 });
    const decision = plan({ demands: [job], arrays: [room], record: { inFlight: [inFlight] } });
    expect(decision.plan.creates.length).toBe(expected);
  });

  test.each([
    { record: "its own record", node: { spot: true }, array: room, expected: 1 },
    {
      record: "its own record, in a spot array",
      node: { spot: false },
      array: { ...room, spot: true },
      expected: 0,
    },
    {
      record: "its array, where its record does not say",
      node: {},
      array: { ...room, spot: true },
      expected: 1,
    },
    { record: "its array, which is not spot", node: {}, array: room, expected: 0 },
  ])("an existing node is what $record says", ({ node, array, expected }) => {
    const { spot: _unsaid, ...plain } = buildNode("n1");
    const job = buildJob("j", 1, { spot: "never" });
    const other = { ...room, name: arrayName("other"), priority: 0 };
    const decision = plan({ demands: [job], arrays: [array, other], nodes: [{ ...plain, ...node }] });
    expect(decision.plan.creates.length).toBe(expected);
  });

  test("of a dynamic array that the ledger knows it is what that array says", () => {
    const { spot: _unsaid, ...node } = buildNode("n1");
    const ledger = buildLedger([rememberNode(node, { purpose: { kind: "dynamic", array: CHEAP } })]);
    const job = buildJob("j", 1, { spot: "never", position: 2 });
    const decision = plan({ demands: [cheap(1), job], arrays: [room], nodes: [node], ledger });
    expect(creates(decision)).toEqual([`1 of execute/${D4} undefined`]);
  });
});

test("a target by price takes the spot price of what it makes", () => {
  const prices: PriceTable = {
    currency: "USD",
    locations: new Map([
      [
        "west",
        new Map([
          [D4.toLowerCase(), { machineType: D4, onDemand: 1, spot: 0.9 }],
          [D8.toLowerCase(), { machineType: D8, onDemand: 2, spot: 0.2 }],
        ]),
      ],
    ]),
    proxies: new Map(),
  };
  const open = { availableCount: 100 };
  const array = buildArray("execute", {
    region: "west",
    buckets: [buildBucket(D4, 4, open), buildBucket(D8, 8, open)],
  });
  const policy = { among: "cheapest", prices } as const;
  const [plain, spot] = [{}, { attributes: SPOT }].map((more) =>
    creates(plan({ demands: [buildTarget(2, more)], arrays: [array], policy })),
  );
  expect(plain).toEqual([`2 of execute/${D4} undefined`]);
  expect(spot).toEqual([`2 of execute/${D8} {"Interruptible":true}`]);
});
