import type { TableClient, TableEntity, TransactionAction } from "@azure/data-tables";
import { readFailure } from "../system/azure-errors.ts";
import { CALL_LIMIT_MS } from "../system/storage-account.ts";
import type { Row, ReadRow, WriteOutcome, OtherRow, VersionedRow, KeyRange, Guard } from "./table.ts";

/** Options that end a call which takes too long. */
export const limited = () => ({ abortSignal: AbortSignal.timeout(CALL_LIMIT_MS) });

export async function readRow(
  client: TableClient,
  partition: string,
  rowKey: string,
  select: readonly string[] | undefined,
): Promise<ReadRow | undefined> {
  const queryOptions = select === undefined ? {} : { queryOptions: { select: [...select] } };
  const found = await absentIf(notFound, () =>
    client.getEntity(partition, rowKey, { ...limited(), ...queryOptions }),
  );
  return found === undefined ? undefined : { rowKey, etag: found.etag, values: found };
}

export async function listRows(
  client: TableClient,
  partition: string,
  range: KeyRange,
  select: readonly string[],
  limit: number,
): Promise<readonly ReadRow[]> {
  const filter = `PartitionKey eq '${quoted(partition)}' and RowKey ge '${quoted(range.from)}' and RowKey lt '${quoted(range.to)}'`;
  const pages = client
    .listEntities({
      queryOptions: { filter, select: ["RowKey", ...select] },
      ...limited(),
    })
    .byPage({ maxPageSize: Math.min(1000, limit) });
  const rows: ReadRow[] = [];
  for await (const page of pages) {
    for (const row of page) rows.push({ rowKey: row.rowKey ?? "", etag: row.etag, values: row });
    if (rows.length >= limit) break;
  }
  return rows.slice(0, limit);
}

export async function removeInTransaction(
  client: TableClient,
  partition: string,
  rowKeys: readonly string[],
  guard: Guard | undefined,
): Promise<WriteOutcome> {
  const actions: TransactionAction[] = rowKeys.map((rowKey) => [
    "delete",
    { partitionKey: partition, rowKey },
  ]);
  if (guard !== undefined) {
    actions.unshift(["update", entity(partition, guard.rowKey, guard.values), "Merge", { etag: guard.etag }]);
  }
  try {
    const { subResponses } = await client.submitTransaction(actions, limited());
    return { kind: "written", etag: subResponses[0]?.etag ?? "" };
  } catch (error) {
    if (conflicts(error) || notFound(error)) return { kind: "conflict" };
    throw error;
  }
}

export async function writeInTransaction(
  client: TableClient,
  partition: string,
  first: VersionedRow,
  others: readonly OtherRow[],
): Promise<WriteOutcome> {
  const row = entity(partition, first.rowKey, first.values);
  const { etag } = first;
  const actions: TransactionAction[] = [
    etag === undefined ? ["create", row] : ["update", row, "Replace", { etag }],
    ...others.map(({ rowKey, values, how }): TransactionAction => {
      const other = entity(partition, rowKey, values);
      return how === "put" ? ["upsert", other, "Replace"] : ["update", other, "Merge", { etag: "*" }];
    }),
  ];
  try {
    const { subResponses } = await client.submitTransaction(actions, limited());
    return { kind: "written", etag: subResponses[0]?.etag ?? "" };
  } catch (error) {
    if (conflicts(error) || notFound(error)) return { kind: "conflict" };
    throw error;
  }
}

/** The outcome of a write. A refusal because of another version is a value. */
export async function written(write: () => Promise<{ etag?: string }>): Promise<WriteOutcome> {
  try {
    const { etag } = await write();
    if (etag === undefined) throw new Error("the service answered a write without an ETag");
    return { kind: "written", etag };
  } catch (error) {
    if (conflicts(error) || notFound(error)) return { kind: "conflict" };
    throw error;
  }
}

/** The result of a call, or undefined if it fails because there is no such row. */
export async function absentIf<T>(
  absent: (error: unknown) => boolean,
  call: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await call();
  } catch (error) {
    if (absent(error)) return undefined;
    throw error;
  }
}

/** 409: the row exists; 412: it is at another version. */
function conflicts(error: unknown): boolean {
  const { status, code } = readFailure(error);
  return status === 412 || (status === 409 && code === "EntityAlreadyExists");
}

/** The row is missing, but its table exists. */
export function notFound(error: unknown): boolean {
  return readFailure(error).status === 404 && !isTableMissing(error);
}

export function isTableMissing(error: unknown): boolean {
  const { status, code } = readFailure(error);
  return status === 404 && code === "TableNotFound";
}

export function entity(partitionKey: string, rowKey: string, values: Row): TableEntity {
  return { ...values, partitionKey, rowKey };
}

/** OData text literals double their quotes. */
function quoted(text: string): string {
  return text.replaceAll("'", "''");
}
