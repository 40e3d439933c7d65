import { TableClient } from "@azure/data-tables";
import { createHash } from "node:crypto";
import { gunzipSync } from "node:zlib";
import { CLUSTER, type Parts } from "./parts.ts";

/** The rows that hold bodies (src/adapters/tables/bodies.ts), and those among them that the record does not name. */
export interface BodyRows {
  readonly rows: number;
  readonly unnamed: number;
}

const PARTITION = `cluster-${CLUSTER}`;
const HEX_DIGEST = /[0-9a-f]{64}/g;
const TRANSACTION_ROWS = 100;

function openTable({ connectionString }: Parts): TableClient {
  return TableClient.fromConnectionString(connectionString, "autoscaler", { allowInsecureConnection: true });
}

/** Counts, past the proxies. Rows that are written meanwhile may be counted as unnamed. */
export async function countBodyRows(parts: Parts): Promise<BodyRows> {
  const table = openTable(parts);
  const ids: string[] = [];
  const select = { queryOptions: { filter: bodyFilter, select: ["RowKey"] } };
  for await (const { rowKey } of table.listEntities(select)) ids.push(idOf(rowKey ?? ""));
  const named = await namedIds(table);
  return { rows: ids.length, unnamed: ids.filter((id) => !named.has(id)).length };
}

/** Adds rows that look like the bodies of two hours ago, which nothing names; gives their keys. */
export async function plantGarbage(parts: Parts, count: number): Promise<readonly string[]> {
  const keys = Array.from({ length: count }, (_, index) => `b-${digestOf(`garbage ${index}`)}-0`);
  const writtenAt = BigInt(parts.clock.now() - 2 * 3_600_000);
  const table = openTable(parts);
  for (let start = 0; start < count; start += TRANSACTION_ROWS) {
    const some = keys.slice(start, start + TRANSACTION_ROWS);
    await table.submitTransaction(
      some.map((rowKey) => ["create", { partitionKey: PARTITION, rowKey, writtenAt }]),
    );
  }
  return keys;
}

/** How many of these rows are still there. */
export async function countLeft(parts: Parts, keys: readonly string[]): Promise<number> {
  const wanted = new Set(keys);
  let left = 0;
  const select = { queryOptions: { filter: bodyFilter, select: ["RowKey"] } };
  for await (const { rowKey } of openTable(parts).listEntities(select))
    if (wanted.has(rowKey ?? "")) left += 1;
  return left;
}

const bodyFilter = `PartitionKey eq '${PARTITION}' and RowKey ge 'b-' and RowKey lt 'b.'`;

const idOf = (rowKey: string): string => rowKey.slice(2, rowKey.lastIndexOf("-"));

const digestOf = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Every digest in the record's own row; where that row only names a body that holds the record, every digest in that. */
async function namedIds(table: TableClient): Promise<ReadonlySet<string>> {
  const manifest = textOf([await table.getEntity(PARTITION, "record")]);
  const direct = new Set(manifest.match(HEX_DIGEST));
  if (!manifest.startsWith('{"spilled"')) return direct;
  const parts: object[] = [];
  for (const id of direct) {
    const filter = `PartitionKey eq '${PARTITION}' and RowKey ge 'b-${id}-' and RowKey lt 'b-${id}.'`;
    for await (const row of table.listEntities({ queryOptions: { filter } })) parts.push(row);
  }
  return new Set([...direct, ...(textOf(parts).match(HEX_DIGEST) ?? [])]);
}

/** What the binary properties d0, d1, ... of these rows hold together: gzipped JSON. */
function textOf(rows: readonly object[]): string {
  const chunks = rows.flatMap((row) =>
    Object.entries(row)
      .filter(([name]) => /^d\d+$/.test(name))
      .sort(([a], [b]) => Number(a.slice(1)) - Number(b.slice(1)))
      .flatMap(([, value]) => (value instanceof Uint8Array ? [value] : [])),
  );
  return gunzipSync(Buffer.concat(chunks)).toString("utf8");
}
