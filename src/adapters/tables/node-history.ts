import type { NodeHistory } from "../../app/ports/record-store.ts";
import type { NodeLife } from "../../domain/node-life.ts";
import { goneBy, isNamed, lifeKey, namesOf } from "../../domain/node-life.ts";
import type { Instant } from "../../domain/units.ts";
import { instant } from "../../domain/units.ts";
import { asPortCall } from "../system/azure-errors.ts";
import { historyPartition } from "./keys.ts";
import type { ReadRow, Table } from "./table.ts";
import { TRANSACTION_ROWS } from "./table.ts";

/** The keys of nodes that went at this moment or later. They lie between the rows of history, which begin with a digit, and kept plans. */
const goneSince = (from: Instant) => ({ from: "node-", to: goneBy(instant(from - 1)) });
const ALL = { from: "node-", to: "node." };

/** Rows removed by one prune. */
const ROWS_PER_PRUNE = 1000;

/** A node of ordinary names has some 600 characters. One that CycleCloud gives a huge name must not keep the others of its transaction out. */
const LONGEST = 4000;

/** Nodes that have gone in Table Storage, beside the cluster's history: one row each, the last first. */
export function tableNodeHistory(table: Table): NodeHistory {
  const readOne = async (partition: string, rowKey: string) => {
    const row = await table.read(partition, rowKey);
    return row === undefined ? undefined : readLife(row);
  };
  return {
    async keep(cluster, gone) {
      const rows = gone.flatMap((life) => {
        const text = JSON.stringify(life);
        const values = { nodeId: life.nodeId, names: JSON.stringify(namesOf(life)), life: text };
        return text.length > LONGEST ? [] : [{ rowKey: lifeKey(life), values }];
      });
      for (let start = 0; start < rows.length; start += TRANSACTION_ROWS)
        await table.putTogether(historyPartition(cluster), rows.slice(start, start + TRANSACTION_ROWS));
    },
    read: (cluster, { after, from, limit }) =>
      asPortCall(`read nodes of ${cluster}`, async () => {
        const { from: first, to } = goneSince(from);
        const range = { from: after === undefined || after < first ? first : `${after}!`, to };
        return (await table.list(historyPartition(cluster), range, ["life"], limit)).map(readLife);
      }),
    find: (cluster, name) =>
      asPortCall(`find a node of ${cluster}`, async () => {
        const partition = historyPartition(cluster);
        const rows = await table.list(partition, ALL, ["nodeId", "names"], Number.MAX_SAFE_INTEGER);
        const isMeant = ({ values }: ReadRow) => isNamed(readNames(String(values["names"])), name);
        const found = rows.find(({ values }) => values["nodeId"] === name) ?? rows.find(isMeant);
        return found && readOne(partition, found.rowKey);
      }),
    async prune(cluster, before, most) {
      const partition = historyPartition(cluster);
      const lapsed = goneBy(instant(before - 1));
      const range = { from: most === undefined ? lapsed : ALL.from, to: ALL.to };
      const rows = await table.list(partition, range, [], (most ?? 0) + ROWS_PER_PRUNE);
      const old = rows.filter(({ rowKey }, place) => rowKey >= lapsed || place >= (most ?? 0));
      const keys = old.slice(0, ROWS_PER_PRUNE).map(({ rowKey }) => rowKey);
      for (let start = 0; start < keys.length; start += TRANSACTION_ROWS) {
        const together = keys.slice(start, start + TRANSACTION_ROWS);
        // A conflict: another instance prunes the same rows. The next call continues.
        if ((await table.removeTogether(partition, together)).kind === "conflict") return start;
      }
      return keys.length;
    },
  };
}

/** Only `keep` above writes it, so it is not validated again. */
function readLife({ values }: ReadRow): NodeLife {
  const life: NodeLife = JSON.parse(String(values["life"]));
  return life;
}

function readNames(text: string): readonly string[] {
  const names: readonly string[] = JSON.parse(text);
  return names;
}
