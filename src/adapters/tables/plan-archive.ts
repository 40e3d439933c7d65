import type { PlanArchive } from "../../app/ports/record-store.ts";
import { jsonPieces } from "../../domain/json-pieces.ts";
import type { KeptPlan, PlanCounts } from "../../domain/kept-plan.ts";
import { lesserPlans } from "../../domain/kept-plan.ts";
import { instant } from "../../domain/units.ts";
import { asPortCall } from "../system/azure-errors.ts";
import { compressPieces, unpackRow } from "./compress.ts";
import { ledgerCodec } from "./codec.ts";
import { planCodec } from "./plan-codec.ts";
import { historyPartition, planKey, planNumberOf } from "./keys.ts";
import { chunkProperties, joinChunks, ROW_BYTES } from "./rows.ts";
import type { Table } from "./table.ts";
import { TRANSACTION_ROWS } from "./table.ts";

/** Maximum number of rows examined by one prune. */
const ROWS_PER_PRUNE = 300;

/** Kept plans in Table Storage, beside the cluster's history: one row each, by number. */
export function tablePlanArchive(table: Table): PlanArchive {
  return {
    async keep(cluster, kept) {
      const { number, at } = kept.plan;
      const counts = JSON.stringify(kept.counts);
      const row = { madeAt: BigInt(at), counts, ...chunkProperties(await fitting(kept)) };
      await table.put(historyPartition(cluster), planKey(number), row);
    },
    async read(cluster, number) {
      const row = await table.read(historyPartition(cluster), planKey(number));
      if (row === undefined) return undefined;
      return asPortCall(`read plan ${number} of ${cluster}`, async () =>
        readPlan(await unpackRow(joinChunks(row.values))),
      );
    },
    async list(cluster, from, to, limit) {
      const range = { from: planKey(from), to: planKey(to + 1) };
      const rows = await table.list(historyPartition(cluster), range, ["madeAt", "counts"], limit);
      return rows.map(({ rowKey, values }) => ({
        number: planNumberOf(rowKey),
        at: instant(Number(values["madeAt"])),
        counts: readCounts(String(values["counts"])),
      }));
    },
    async prune(cluster, before) {
      const partition = historyPartition(cluster);
      const range = { from: planKey(0), to: planKey(Number.MAX_SAFE_INTEGER) };
      const first = await table.list(partition, range, ["madeAt"], ROWS_PER_PRUNE);
      const old = first.filter(({ values }) => Number(values["madeAt"]) < before);
      for (let start = 0; start < old.length; start += TRANSACTION_ROWS) {
        const together = old.slice(start, start + TRANSACTION_ROWS).map(({ rowKey }) => rowKey);
        // A conflict: another instance prunes the same rows. The next call continues.
        if ((await table.removeTogether(partition, together)).kind === "conflict") return start;
      }
      return old.length;
    },
  };
}

/** As much of the plan as a row holds. */
async function fitting(kept: KeptPlan): Promise<Uint8Array> {
  let bytes = await compressPieces(writePlan(kept));
  for (const lesser of lesserPlans(kept)) {
    if (bytes.length <= ROW_BYTES) break;
    bytes = await compressPieces(writePlan(lesser));
  }
  return bytes;
}

/** As a build before 0.1.0 wrote it: each part as the text that its own codec writes. */
interface StoredPlan {
  readonly plan: string;
  readonly ledger: string;
  readonly counts: PlanCounts;
}

/** Only `keep` above writes it, so it is not validated again. */
function readCounts(text: string): PlanCounts {
  const counts: PlanCounts = JSON.parse(text);
  return counts;
}

/** A line each for plan, ledger and counts, in pieces. As one text, a plan of 100,000 demands holds the process for half a second. */
function* writePlan({ plan, ledger, counts }: KeptPlan): Generator<string> {
  yield* jsonPieces(planCodec.write(plan));
  yield "\n";
  yield* jsonPieces(ledgerCodec.write(ledger));
  yield `\n${JSON.stringify(counts)}`;
}

function readPlan(text: string): KeptPlan {
  const [plan, ledger, counts] = text.split("\n");
  if (plan !== undefined && ledger !== undefined && counts !== undefined)
    return { plan: planCodec.read(plan), ledger: ledgerCodec.read(ledger), counts: readCounts(counts) };
  const stored: StoredPlan = JSON.parse(text);
  return { ...stored, plan: planCodec.read(stored.plan), ledger: ledgerCodec.read(stored.ledger) };
}
