import type {
  TableClient,
  TableEntity,
  TableServiceClientOptions,
  TransactionAction,
} from "@azure/data-tables";
import { asPortCall, readFailure } from "../system/azure-errors.ts";
import type { StorageAccount } from "../system/storage-account.ts";
import { CALL_LIMIT_MS, RETRIES, speaksPlainHttp } from "../system/storage-account.ts";

/** A row as stored: property name -> value. Binary properties are byte arrays, 64-bit integers bigints. */
export type Row = Readonly<Record<string, unknown>>;

/** A row as read, with its version. */
export interface ReadRow {
  readonly rowKey: string;
  readonly etag: string;
  readonly values: Row;
}

export type WriteOutcome =
  | { readonly kind: "written"; readonly etag: string }
  | { readonly kind: "conflict" };

/** One table, with the few operations that the stores need. Every method throws only PortError. */
export interface Table {
  /**
   * Creates the table if it is missing. Once per process; concurrent callers share it. Every other call does it too if the table is
   * missing.
   */
  ensure(): Promise<void>;
  /** A point read. Undefined if there is no such row. `select` limits the properties. */
  read(partition: string, rowKey: string, select?: readonly string[]): Promise<ReadRow | undefined>;
  /** Inserts. Conflict: the row exists. */
  insert(partition: string, rowKey: string, values: Row): Promise<WriteOutcome>;
  /** Replaces the row if it is still at `etag`. Conflict: it is not, or it is gone. */
  replace(partition: string, rowKey: string, values: Row, etag: string): Promise<WriteOutcome>;
  /** Writes the row unconditionally. */
  put(partition: string, rowKey: string, values: Row): Promise<void>;
  /** Removes the row. No error if it is missing. */
  remove(partition: string, rowKey: string): Promise<void>;
  /** Rows with `from <= RowKey < to`, in order of RowKey, at most `limit`. */
  list(
    partition: string,
    range: KeyRange,
    select: readonly string[],
    limit: number,
  ): Promise<readonly ReadRow[]>;
  /**
   * Writes both rows in one transaction: all or nothing. The first is replaced at its etag, or inserted if it has none. The second is
   * written unconditionally. Conflict: the first has changed, is gone, or exists.
   */
  writeBoth(partition: string, first: VersionedRow, second: KeyedRow): Promise<WriteOutcome>;
  /**
   * Removes up to 99 rows (100 without a guard) in one transaction: all or nothing. The guard is another row that must still be at its
   * etag. It is touched, which changes its etag. Conflict: the guard has changed, or a row was already gone.
   */
  removeTogether(partition: string, rowKeys: readonly string[], guard?: Guard): Promise<WriteOutcome>;
}

/** A row to write. */
export interface KeyedRow {
  readonly rowKey: string;
  readonly values: Row;
}

/** Absent etag: the row does not exist yet. */
export interface VersionedRow extends KeyedRow {
  readonly etag?: string | undefined;
}

export interface KeyRange {
  readonly from: string;
  readonly to: string;
}

export interface Guard {
  readonly rowKey: string;
  readonly etag: string;
  /** Merged into the guard. */
  readonly values: Row;
}

/** Rows that one transaction may change. */
export const TRANSACTION_ROWS = 100;

export interface TableOptions {
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
  let created: Promise<void> | undefined;
  const ensure = (): Promise<void> => {
    created ??= asPortCall(`create table ${table}`, async () => (await open()).createTable(limited()));
    // A failure must not be cached: the next caller tries again.
    created.catch(() => (created = undefined));
    return created;
  };
  /** Creates a table that was deleted, or never existed, and tries the call once more. */
  const calling =
    (operation: string) =>
    async <T>(call: (client: TableClient) => Promise<T>): Promise<T> =>
      asPortCall(operation, async () => {
        const client = await open();
        const before = created;
        try {
          return await call(client);
        } catch (error) {
          if (!isTableMissing(error)) throw error;
          // Of several callers that miss it, the first resets the note that it was created.
          if (created === before) created = undefined;
          await ensure();
          return call(client);
        }
      });
  const describe = (verb: string, partition: string, rowKey: string) =>
    `${verb} row ${partition}/${rowKey} of table ${table}`;
  return {
    ensure,
    read: (partition, rowKey, select) =>
      calling(describe("read", partition, rowKey))(async (client) => {
        const queryOptions = select === undefined ? {} : { queryOptions: { select: [...select] } };
        const found = await absentIf(notFound, () =>
          client.getEntity(partition, rowKey, { ...limited(), ...queryOptions }),
        );
        return found === undefined ? undefined : { rowKey, etag: found.etag, values: found };
      }),
    insert: (partition, rowKey, values) =>
      calling(describe("insert", partition, rowKey))((client) =>
        written(() => client.createEntity(entity(partition, rowKey, values), limited())),
      ),
    replace: (partition, rowKey, values, etag) =>
      calling(describe("replace", partition, rowKey))((client) =>
        written(() =>
          client.updateEntity(entity(partition, rowKey, values), "Replace", { ...limited(), etag }),
        ),
      ),
    put: (partition, rowKey, values) =>
      calling(describe("write", partition, rowKey))(async (client) => {
        await client.upsertEntity(entity(partition, rowKey, values), "Replace", limited());
      }),
    remove: (partition, rowKey) =>
      calling(describe("remove", partition, rowKey))(async (client) => {
        await absentIf(notFound, () => client.deleteEntity(partition, rowKey, limited()));
      }),
    list: (partition, range, select, limit) =>
      calling(describe("list", partition, range.from))((client) =>
        listRows(client, partition, range, select, limit),
      ),
    writeBoth: (partition, first, second) =>
      calling(describe("write", partition, first.rowKey))((client) =>
        writeInTransaction(client, partition, first, second),
      ),
    removeTogether: (partition, rowKeys, guard) =>
      calling(describe("collect", partition, guard?.rowKey ?? ""))((client) =>
        removeInTransaction(client, partition, rowKeys, guard),
      ),
  };
}

const limited = () => ({ abortSignal: AbortSignal.timeout(CALL_LIMIT_MS) });

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
  second: KeyedRow,
): Promise<WriteOutcome> {
  const row = entity(partition, first.rowKey, first.values);
  const { etag } = first;
  const actions: TransactionAction[] = [
    etag === undefined ? ["create", row] : ["update", row, "Replace", { etag }],
    ["upsert", entity(partition, second.rowKey, second.values), "Replace"],
  ];
  try {
    const { subResponses } = await client.submitTransaction(actions, limited());
    return { kind: "written", etag: subResponses[0]?.etag ?? "" };
  } catch (error) {
    if (conflicts(error) || notFound(error)) return { kind: "conflict" };
    throw error;
  }
}

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
