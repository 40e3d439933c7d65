import { createHash } from "node:crypto";
import { compress, decompress } from "../../src/adapters/tables/compress.ts";
import { bodyIdOf, clusterPartition, historyPartition } from "../../src/adapters/tables/keys.ts";
import { chunkProperties, joinChunks } from "../../src/adapters/tables/rows.ts";
import type { ReadRow } from "../../src/adapters/tables/table.ts";
import { writeText } from "./edges.ts";
import { ABSENT, editAt } from "./edit.ts";
import { memberOf } from "./judge.ts";
import { edited } from "./tamper.ts";
import type { World } from "./world.ts";

/** Everything, in the order of the keys. */
const ALL = { from: "", to: "~" };

/** How what is too deep for an edit begins, as edges.ts writes it. */
const DEEP_TEXTS = ["[", '{"not":', '{"a":', '{"and":['].map((level) => level.repeat(1500));

/** What a record may lack. */
const OPTIONAL = [
  "createsFrom",
  "alone",
  "lookedAt",
  "looks",
  "planBy",
  "calls",
  "wakeAt",
  "wakeFor",
  "nextTickAt",
  "restsUntil",
  "pendingWake",
  "lastGoodLookAt",
  "outage",
  "awaitsReport",
  "groupFills",
  "dynamicArrays",
  "unneeded",
  "missing",
];

/**
 * Changes what is stored: "grown", as a newer release might have, with members that this one does not know; "older", without what a
 * record may lack; "damaged", in any way. A body has another id then, so the record names it by that.
 */
export async function editRows(world: World, how: string, document: unknown): Promise<void> {
  const { table, cluster } = world;
  if (table === undefined) return;
  let nth = 0;
  // History is shown as it is stored: what a newer release adds there is that release's own to describe.
  const history = how === "damaged" ? [historyPartition(cluster)] : [];
  for (const partition of [clusterPartition(cluster), ...history]) {
    for (const row of await table.list(partition, ALL, [], 100)) {
      // The configuration is a document of its user's, not of a release.
      if (row.rowKey === "configuration") continue;
      const number = nth % 4;
      nth += 1;
      await editRow(world, partition, row, (value) =>
        how === "older"
          ? withoutOptional(value)
          : edited(how === "grown" ? growthOf(document) : document, value, number),
      );
    }
  }
}

/** Only what adds a member: cutting down must not turn growth into damage. */
function growthOf(document: unknown): unknown {
  return (Array.isArray(document) ? document : []).filter(
    (edit) => typeof memberOf(edit, "key") === "string",
  );
}

function withoutOptional(value: unknown): unknown {
  return OPTIONAL.reduce<unknown>((left, name) => editAt(left, ["record", name], () => ABSENT), value);
}

async function editRow(
  world: World,
  partition: string,
  row: ReadRow,
  edit: (value: unknown) => unknown,
): Promise<void> {
  const { table } = world;
  if (table === undefined) return;
  const { counts } = row.values;
  const before = joinChunks(row.values);
  const isHistory = typeof counts === "string";
  if (!isHistory && before.length === 0) return;
  const stored = isHistory ? counts : await decompress(before);
  // An edit before this one made it deeper than an edit can follow.
  if (DEEP_TEXTS.some((deep) => stored.includes(deep))) return;
  const text = writeText(edit(JSON.parse(stored)), world.cluster);
  if (isHistory) return table.put(partition, row.rowKey, { ...row.values, counts: text });
  const after = await compress(text);
  const values = { ...withoutChunks(row.values), ...chunkProperties(after) };
  if (!row.rowKey.startsWith("b-")) return table.put(partition, row.rowKey, values);
  const id = createHash("sha256").update(after).digest("hex");
  await table.put(partition, `b-${id}-0`, values);
  await rename(world, partition, bodyIdOf(row.rowKey), { id, bytes: after.length });
}

function withoutChunks(values: ReadRow["values"]): ReadRow["values"] {
  return Object.fromEntries(Object.entries(values).filter(([name]) => !/^d\d+$/.test(name)));
}

/** The record names a body by its new id. */
async function rename(
  { table }: World,
  partition: string,
  old: string,
  ref: { readonly id: string; readonly bytes: number },
): Promise<void> {
  const record = await table?.read(partition, "record");
  if (table === undefined || record === undefined) return;
  const text = await decompress(joinChunks(record.values));
  const renamed = text.replaceAll(new RegExp(`\\{"id":"${old}","bytes":\\d+\\}`, "g"), () =>
    JSON.stringify(ref),
  );
  await table.put(partition, "record", {
    ...withoutChunks(record.values),
    ...chunkProperties(await compress(renamed)),
  });
}
