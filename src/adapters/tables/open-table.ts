import type {
  TableClient,
  TableServiceClientOptions,
  TableEntity,
  TransactionAction,
} from "@azure/data-tables";
import { asPortCall, readFailure } from "../system/azure-errors.ts";
import type { StorageAccount } from "../system/storage-account.ts";
import { RETRIES, speaksPlainHttp, CALL_LIMIT_MS } from "../system/storage-account.ts";
import type { Table, Row, ReadRow, WriteOutcome, OtherRow, VersionedRow, KeyRange, Guard } from "./table.ts";

interface TableOptions {
  /** Default "autoscaler". */
  readonly name?: string;
  /** Called with each request and answer, for example to read the service's clock. */
  readonly policies?: TableServiceClientOptions["additionalPolicies"];
}

/** Opens a table. The first use loads the SDK, which is too slow for a cold start (docs/benchmarks.md, Loading), and connects. */
export function openTable(account: StorageAccount, options: TableOptions = {}): Table {
  const name = options.name ?? "autoscaler";
  let client: Promise<TableClient> | undefined;
  return overClient(name, () => (client ??= createClient(account, name, options)));
}

async function createClient(
  account: StorageAccount,
  name: string,
  options: TableOptions,
): Promise<TableClient> {
  const { TableClient } = await import("@azure/data-tables");
  const clientOptions = {
    retryOptions: {
      maxRetries: RETRIES.count,
      retryDelayInMs: RETRIES.delayMs,
      maxRetryDelayInMs: RETRIES.maxDelayMs,
    },
    ...(options.policies === undefined ? {} : { additionalPolicies: options.policies }),
  };
  if (account.kind === "identity") {
    return new TableClient(account.tableEndpoint, name, account.credential, clientOptions);
  }
  const allowInsecureConnection = speaksPlainHttp(account.connectionString);
  return TableClient.fromConnectionString(account.connectionString, name, {
    ...clientOptions,
    allowInsecureConnection,
  });
}

function overClient(table: string, open: () => Promise<TableClient>): Table {
  const { ensure, call } = createCaller(table, open);
  const on = (verb: string, partition: string, rowKey: string) =>
    `${verb} row ${partition}/${rowKey} of table ${table}`;
  return {
    ensure,
    read: (partition, rowKey, select) =>
      call(on("read", partition, rowKey), (client) => readRow(client, partition, rowKey, select)),
    insert: (partition, rowKey, values) =>
      call(on("insert", partition, rowKey), (client) =>
        written(() => client.createEntity(entity(partition, rowKey, values), limited())),
      ),
    replace: (partition, rowKey, values, etag) =>
      call(on("replace", partition, rowKey), (client) =>
        written(() =>
          client.updateEntity(entity(partition, rowKey, values), "Replace", { ...limited(), etag }),
        ),
      ),
    put: (partition, rowKey, values) =>
      call(on("write", partition, rowKey), async (client) => {
        await client.upsertEntity(entity(partition, rowKey, values), "Replace", limited());
      }),
    remove: (partition, rowKey) =>
      call(on("remove", partition, rowKey), async (client) => {
        await absentIf(notFound, () => client.deleteEntity(partition, rowKey, limited()));
      }),
    list: (partition, range, select, limit) =>
      call(on("list", partition, range.from), (client) => listRows(client, partition, range, select, limit)),
    putTogether: (partition, rows) =>
      call(on("write", partition, String(rows[0]?.rowKey)), async (client) => {
        await client.submitTransaction(
          rows.map(({ rowKey, values }) => ["upsert", entity(partition, rowKey, values), "Replace"]),
          limited(),
        );
      }),
    writeTogether: (partition, first, others) =>
      call(on("write", partition, first.rowKey), (client) =>
        writeInTransaction(client, partition, first, others),
      ),
    removeTogether: (partition, rowKeys, guard) =>
      call(on("collect", partition, guard?.rowKey ?? String(rowKeys[0])), (client) =>
        removeInTransaction(client, partition, rowKeys, guard),
      ),
  };
}

/** Runs calls of a table by name. Creates a table that is missing, and tries the call once more. */
interface TableCaller {
  readonly ensure: () => Promise<void>;
  /** Throws only PortError, with the operation as given. */
  readonly call: <T>(operation: string, work: (client: TableClient) => Promise<T>) => Promise<T>;
}

function createCaller(table: string, open: () => Promise<TableClient>): TableCaller {
  let created: Promise<void> | undefined;
  const ensure = (): Promise<void> => {
    created ??= asPortCall(`create table ${table}`, async () => (await open()).createTable(limited()));
    // A failure must not be cached: the next caller tries again.
    created.catch(() => (created = undefined));
    return created;
  };
  return {
    ensure,
    call: (operation, work) =>
      asPortCall(operation, async () => {
        const client = await open();
        const before = created;
        try {
          return await work(client);
        } catch (error) {
          if (!isTableMissing(error)) throw error;
          // Of several callers that miss it, the first resets the note that it was created.
          if (created === before) created = undefined;
          await ensure();
          return work(client);
        }
      }),
  };
}

/** Options that end a call which takes too long. */
const limited = () => ({ abortSignal: AbortSignal.timeout(CALL_LIMIT_MS) });

async function readRow(
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

async function listRows(
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

async function removeInTransaction(
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

async function writeInTransaction(
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
async function written(write: () => Promise<{ etag?: string }>): Promise<WriteOutcome> {
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
async function absentIf<T>(
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
function notFound(error: unknown): boolean {
  return readFailure(error).status === 404 && !isTableMissing(error);
}

function isTableMissing(error: unknown): boolean {
  const { status, code } = readFailure(error);
  return status === 404 && code === "TableNotFound";
}

function entity(partitionKey: string, rowKey: string, values: Row): TableEntity {
  return { ...values, partitionKey, rowKey };
}

/** OData text literals double their quotes. */
function quoted(text: string): string {
  return text.replaceAll("'", "''");
}
