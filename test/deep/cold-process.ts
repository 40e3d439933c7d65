import { tableRecordStore } from "../../src/adapters/tables/record-store.ts";
import { openTable } from "../../src/adapters/tables/open-table.ts";
import type { RecordStore } from "../../src/app/ports/record-store.ts";
import { clusterName } from "../../src/domain/ids.ts";
import { instant } from "../../src/domain/units.ts";
import { StoreMeter } from "./store-meter.ts";

/**
 * Reads the state of a cluster as a reconcile does in a new process, and writes it as a reconcile does that changes everything: it reserves
 * the observation first, and then saves ledger, snapshot, plan and record. Arguments: the storage's connection string, table, cluster.
 * Prints the cost as one line of JSON.
 */
const [connectionString = "", name = "", cluster = ""] = process.argv.slice(2);
const meter = new StoreMeter();
const table = meter.counted(openTable({ kind: "connection-string", connectionString }, { name }));
const store = meter.timed(tableRecordStore(table, { now: () => instant(Date.now()) }));
const cost = await meter.costOf(() => readAndWrite(store));
process.stdout.write(`${JSON.stringify(cost)}\n`);

async function readAndWrite(to: RecordStore): Promise<void> {
  const first = await to.load(clusterName(cluster));
  if (first === undefined) throw new Error(`there is no record of ${cluster}`);
  const at = instant((first.record.lookedAt ?? 0) + 5000);
  await to.save({ ...first.record, lookedAt: at }, {}, first);
  const loaded = await to.load(clusterName(cluster));
  const whole = loaded && (await to.bodies(loaded));
  if (loaded === undefined || whole?.seen === undefined || whole.plan === undefined)
    throw new Error(`the record of ${cluster} has no plan yet`);
  const plan = loaded.record.plan + 1;
  const changes = {
    ledger: new Map([...whole.ledger].map(([id, node]) => [id, { ...node, lastNeededAt: at }])),
    seen: { ...whole.seen, at },
    plan: { ...whole.plan, number: plan, at },
  };
  const saved = await to.save({ ...loaded.record, plan, lastGoodLookAt: at }, changes, loaded);
  if (saved.kind !== "saved") throw new Error("somebody else saved the record");
}
