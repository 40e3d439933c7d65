import type { TableClient, TableServiceClientOptions } from "@azure/data-tables";
import { asPortCall } from "../system/azure-errors.ts";
import type { StorageAccount } from "../system/storage-account.ts";
import { RETRIES, speaksPlainHttp } from "../system/storage-account.ts";
import type { Table } from "./table.ts";
import {
  limited,
  readRow,
  listRows,
  removeInTransaction,
  writeInTransaction,
  written,
  absentIf,
  notFound,
  isTableMissing,
  entity,
} from "./table-calls.ts";

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
