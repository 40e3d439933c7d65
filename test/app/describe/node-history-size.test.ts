import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { tableNodeHistory } from "../../../src/adapters/tables/node-history.ts";
import { describeNodeHistory } from "../../../src/app/describe/describe-node-history.ts";
import type { App } from "../../../src/app/process/lanes.ts";
import { livesOf } from "../../../src/decide/nodes/node-life.ts";
import type { Node } from "../../../src/domain/cluster.ts";
import { machineType, nodeId, requestId, setName } from "../../../src/domain/ids.ts";
import type { LedgerNode } from "../../../src/domain/ledger.ts";
import { DEFAULT_POLICY } from "../../../src/domain/policy.ts";
import { instant } from "../../../src/domain/units.ts";
import { VirtualClock } from "../../../src/local/play/virtual-clock.ts";
import { appOnTable } from "../../support/app-on-table.ts";
import {
  at,
  buildArray,
  buildLedger,
  buildNode,
  buildSnapshot,
  NOW,
  PROD,
  rememberNode,
} from "../../support/build-node.ts";
import { buildState } from "../../support/build-record.ts";
import { memoryTable } from "../../support/memory-table.ts";
import { processorMs } from "../../support/processor-time.ts";

/** The history of the largest cluster: 10,000 nodes, 5,000 that went in the last hour, and the 20,000 that are kept. */

const noise = (text: string) => createHash("sha256").update(text).digest("hex");
const F2 = machineType("Standard_F2s_v2");
const prices = {
  currency: "USD",
  locations: new Map([["westeurope", new Map([["standard_f2s_v2", { machineType: F2, onDemand: 0.1 }]])]]),
  proxies: new Map<string, string>(),
};
const policy = { ...DEFAULT_POLICY, prices };

function nodesOf(prefix: string, count: number): readonly Node[] {
  return Array.from({ length: count }, (_, i) => {
    const name = `${prefix}-${i}`;
    const ids = { hostname: `ip-${noise(`host ${name}`).slice(0, 8)}`, instanceId: noise(name).slice(0, 32) };
    return buildNode(noise(`node ${name}`).slice(0, 32), { name, machineType: F2, ...ids });
  });
}

const known = (node: Node, i: number, more: Partial<LedgerNode> = {}): LedgerNode =>
  rememberNode(node, {
    requestId: requestId(noise(`request ${Math.floor(i / 100)}`).slice(0, 36)),
    asked: { at: at(-4000 + (i % 97)), plan: 7 + (i % 50) },
    firstNeeded: { at: at(-3600 + (i % 89)), sets: [setName(`user-${i % 100}`)] },
    lastNeededAt: at(-60 - (i % 83)),
    ...more,
  });

const gone = (node: Node, i: number, seconds: number): LedgerNode =>
  known(node, i, {
    goneAt: at(seconds),
    draining: {
      since: at(seconds - 90),
      by: "idle",
      plan: 90 + (i % 9),
      attempts: 1,
      sentAt: at(seconds - 60),
    },
    was: { machineType: F2, region: "westeurope" },
  });

async function largest(): Promise<App> {
  const clock = new VirtualClock(NOW);
  const { app } = appOnTable(clock);
  const nodeHistory = tableNodeHistory(memoryTable(clock));
  const live = nodesOf("live", 10_000);
  const seen = buildSnapshot(live, { arrays: [buildArray("execute", { region: "westeurope" })] });
  const late = nodesOf("late", 5000).map((node, i) => gone(node, i, -(i % 3500)));
  const ledger = buildLedger([...live.map((node, i) => known(node, i)), ...late]);
  const { record } = buildState({ ledger, seen });
  await app.ports.store.save(record, { ledger, seen }, undefined);
  const old = nodesOf("old", 20_000).map((node, i) => gone(node, i, -7200 - i));
  await nodeHistory.keep(PROD, livesOf(old, undefined, policy));
  return { ...app, ports: { ...app.ports, nodeHistory, policyOf: () => Promise.resolve(policy) } };
}

test("35,000 nodes in pages: each once, at most 500 KB packed and a second of processor time a page", async () => {
  const app = await largest();
  const ids = new Set<string>();
  const phases: string[] = [];
  let [pages, packed, slowest] = [0, 0, 0];
  for (let after: string | undefined; pages === 0 || after !== undefined; pages += 1) {
    const range = { from: instant(0), to: NOW, limit: 2000, ...(after === undefined ? {} : { after }) };
    const begun = processorMs();
    const answer = await describeNodeHistory(app, PROD, range);
    const text = JSON.stringify(answer);
    slowest = Math.max(slowest, processorMs() - begun);
    expect(text.length).toBeLessThan(2 * 1024 * 1024);
    packed = Math.max(packed, gzipSync(text).length);
    for (const row of answer.rows) {
      ids.add(row.nodeId);
      if (row.phase !== phases.at(-1)) phases.push(row.phase);
    }
    after = answer.next;
  }
  expect(ids.size).toBe(35_000);
  expect(phases).toEqual(["ready", "gone"]);
  expect(packed).toBeLessThan(500_000);
  expect(slowest).toBeLessThan(1000);
});

test("a node among 20,000 that have gone is found by its host", async () => {
  const { ports } = await largest();
  const begun = processorMs();
  expect(await ports.nodeHistory.find(PROD, "ip-0000")).toBeUndefined();
  const [last] = nodesOf("old", 20_000).slice(-1);
  expect(nodeId(String((await ports.nodeHistory.find(PROD, last?.hostname ?? ""))?.nodeId))).toBe(
    last?.nodeId,
  );
  expect(processorMs() - begun).toBeLessThan(1000);
});
