import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { expect, test } from "vitest";
import { BODY_KEYS, clusterPartition } from "../../../src/adapters/tables/keys.ts";
import { tableRecordStore } from "../../../src/adapters/tables/record-store.ts";
import { openTable } from "../../../src/adapters/tables/open-table.ts";
import type { Node, Snapshot } from "../../../src/domain/cluster.ts";
import type { JobDemand, SetDemand } from "../../../src/domain/demand.ts";
import type { Digest, NodeId, SetName } from "../../../src/domain/ids.ts";
import {
  arrayName,
  clusterName,
  digest,
  machineType,
  nodeId,
  requestId,
  setName,
} from "../../../src/domain/ids.ts";
import type { Bodies } from "../../../src/domain/bodies.ts";
import type { LedgerNode } from "../../../src/domain/ledger.ts";
import type { ClusterRecord } from "../../../src/domain/record.ts";
import type { SetEntry } from "../../../src/domain/request-sets.ts";
import { IS_DEEP } from "../../property/runs.ts";
import { azuriteForThisFile } from "../../support/azurite.ts";
import { countingTable } from "./counting-table.ts";
import { emptyRecord, SAMPLE_TIME, sampleEntry } from "../../support/sample-record.ts";
import { needing } from "../../support/build-constraints.ts";

const azurite = azuriteForThisFile();
const demo = clusterName("demo");

/** Text as random as an id, the same in every run. */
const noise = (text: string) => createHash("sha256").update(text).digest("hex");

function largeLedger(nodes: number): Map<NodeId, LedgerNode> {
  return new Map(
    Array.from({ length: nodes }, (_, number) => {
      const id = nodeId(noise(`node ${number}`).slice(0, 32));
      const node: LedgerNode = {
        nodeId: id,
        name: `execute-${number}`,
        array: arrayName("execute"),
        hostname: `ip-${noise(`host ${number}`).slice(0, 8)}`,
        instanceId: noise(`vm ${number}`).slice(0, 32),
        requestId: requestId(noise(`request ${Math.floor(number / 100)}`).slice(0, 36)),
        purpose: { kind: "array" },
        firstSeenAt: SAMPLE_TIME,
        firstReadyAt: SAMPLE_TIME,
        busyness: { state: "unknown", since: SAMPLE_TIME },
      };
      return [id, node];
    }),
  );
}

function largeSnapshot(ledger: ReadonlyMap<NodeId, LedgerNode>): Snapshot {
  const nodes = [...ledger.values()].map(
    ({ nodeId: id, name, array, hostname = "", instanceId = "" }): Node => ({
      nodeId: id,
      name,
      array,
      machineType: machineType("Standard_F2s_v2"),
      phase: "ready",
      status: "Ready",
      vcpus: 2,
      memoryGib: 4,
      hostname,
      privateIp: "10.0.0.1",
      instanceId,
      spot: false,
      keepAlive: false,
    }),
  );
  return { cluster: demo, at: SAMPLE_TIME, limit: {}, arrays: [], nodes };
}

function job(number: number): JobDemand {
  return {
    kind: "job",
    id: `job-${number}`,
    name: `job-${number}`,
    user: `user-${number % 97}`,
    constraints: needing({ ncpus: 1 + (number % 16), mem: 0.5 * (number % 33) }),
    iterations: 1 + (number % 7),
    colocated: false,
    placed: [],
    priority: number % 5,
    position: number,
  };
}

const setOf = (demands: SetDemand["demands"]): SetDemand => ({ demands, pools: [], rejectedJobs: [] });

function largeRecord(
  sets: number,
  jobs: number,
): { readonly record: ClusterRecord; readonly demands: Map<Digest, SetDemand> } {
  const entries = new Map<SetName, SetEntry>();
  const demands = new Map<Digest, SetDemand>();
  const add = (name: string, demand: SetDemand) => {
    const named = digest(noise(name));
    const revision = {
      value: Number(SAMPLE_TIME) + entries.size,
      tieBreak: noise(`message ${name}`).slice(0, 36),
    };
    entries.set(setName(name), { ...sampleEntry(named), revision });
    demands.set(named, demand);
  };
  for (let number = 0; number < sets; number++) add(`set-${number}`, setOf([job(number)]));
  add("huge", setOf(Array.from({ length: jobs }, (_, number) => job(number))));
  return { record: { ...emptyRecord(demo), sets: entries }, demands };
}

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;
const seconds = (since: number) => `${((performance.now() - since) / 1000).toFixed(2)} s`;

/** Enough for many rows; `npm run test:deep` writes more. */
const JOBS = IS_DEEP ? 100_000 : 25_000;

test(`a record with 10,000 nodes, 2,000 sets and one set of ${JOBS} distinct jobs is written and read back`, async () => {
  const plain = openTable(azurite.account(), { name: azurite.freshName() });
  await plain.ensure();
  const { table, counts, reset } = countingTable(plain);
  const { record, demands } = largeRecord(2000, JOBS);
  const ledger = largeLedger(10_000);
  const seen = largeSnapshot(ledger);
  const clock = { now: () => SAMPLE_TIME };

  const store = tableRecordStore(table, clock);
  const started = performance.now();
  const outcome = await store.save(record, { demands, ledger, seen }, undefined);
  const written = seconds(started);
  const wrote = counts.bodyRowsWritten + counts.recordsWritten;
  expect(outcome.kind).toBe("saved");

  reset();
  const cold = tableRecordStore(table, clock);
  const reading = performance.now();
  const loaded = await cold.load(demo);
  const bodies = loaded && (await cold.bodies(loaded));
  const read = seconds(reading);
  const rowsRead = counts.rowsRead;
  expect(loaded?.record).toStrictEqual(record);
  const expected: Bodies = { demands, reports: new Map(), ledger, seen };
  // vitest takes as long to compare them as all the rest takes.
  expect(isDeepStrictEqual(bodies, expected)).toBe(true);

  reset();
  const renewing = performance.now();
  const again = await cold.load(demo);
  const entry = record.sets.get(setName("set-1"));
  if (again === undefined || entry === undefined) throw new Error("the record is gone");
  const renewedSets = new Map(record.sets).set(setName("set-1"), { ...entry, intervalSeconds: 60 });
  expect((await cold.save({ ...record, sets: renewedSets }, {}, again)).kind).toBe("saved");
  const renewed = seconds(renewing);
  expect(counts).toStrictEqual({ rowsRead: 0, glances: 1, bodyRowsWritten: 0, recordsWritten: 1 });

  const rows = await table.list(clusterPartition(demo), BODY_KEYS, [], 1000);
  expect(rows).toHaveLength(wrote - 1);
  const index = outcome.kind === "saved" ? outcome.loaded.version.index : undefined;
  const bytes = [...(index?.own.values() ?? []), index?.ledger, index?.seen, ...(index?.packs ?? [])]
    .map((ref) => ref?.bytes ?? 0)
    .reduce((sum, size) => sum + size, 0);
  // In proportion to bytes, not to the 2,000 sets: one row begun per body and pack.
  expect(rowsRead).toBe(wrote);
  expect(rowsRead).toBeLessThanOrEqual(1 + bytes / (700 * 1024) + 3 + (index?.packs.length ?? 0));
  console.log(
    `written in ${written} (${wrote} rows, ${megabytes(bytes)} compressed), read cold in ${read} (${rowsRead} rows), one renewal in ${renewed}`,
  );
});
