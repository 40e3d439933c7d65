import { DEFAULT_POLICY } from "../../src/domain/policy.ts";
import { memoryTable } from "../support/memory-table.ts";
import { LargeCluster } from "./large-cluster.ts";

const MINUTES = 10;

/**
 * Calls of the table in each of ten minutes, in which every set is renewed twice and, in the second half, three sets a minute ask for more
 * or less. The cluster has made five nodes for each set before, in mode act.
 */
export async function operationsIn(mode: "act" | "observe", sets: number): Promise<readonly number[]> {
  const table = memoryTable({ sleep: async () => undefined });
  const cluster = new LargeCluster(table, sets);
  await cluster.prepare();
  await cluster.push(0, sets, sets);
  for (let minute = 0; minute < 5; minute += 1) {
    await cluster.reconcile();
    cluster.pass(60);
  }
  if (cluster.countNodes() !== 5 * sets) throw new Error("the nodes of the sets are not there");
  cluster.configure({ ...DEFAULT_POLICY, mode });
  // The first plan in mode observe copies the fleet: it counts, too.
  const operations: number[] = [];
  for (let minute = 0; minute < MINUTES; minute += 1) {
    table.reset();
    await cluster.push((minute * sets) / 5, ((minute + 1) * sets) / 5, 16);
    cluster.pass(30);
    if (minute >= MINUTES / 2) await cluster.push(minute * 7, minute * 7 + 3, 1, 20 * (minute % 2));
    cluster.pass(30);
    const kind = await cluster.reconcile();
    if (kind !== "planned") throw new Error(`the observation ended as ${kind}`);
    const { reads, pages, writes, transactions } = table.counts;
    operations.push(reads + pages + writes + transactions);
  }
  return operations;
}
