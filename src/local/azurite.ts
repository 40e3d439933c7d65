/** The storage emulator Azurite (queues and tables), in this process. Facts: platform.md section 2. */
import { createRequire } from "node:module";
import path from "node:path";
import type { Writable } from "node:stream";
import { answerRequire } from "./host/require-answers.ts";

/** A running emulator. Everything in it is lost on close when it keeps its data in memory. */
type Azurite = {
  readonly connectionString: string;
  readonly queueEndpoint: string;
  readonly tableEndpoint: string;
  close(): Promise<void>;
};

/** Data is kept in memory. With `inMemory: false` it is kept in files in the folder `location`. Without `ports`, free ports are used. */
type AzuriteOptions = {
  readonly inMemory?: boolean;
  readonly location?: string;
  readonly ports?: { readonly queue: number; readonly table: number };
};

/** The emulator's account, the same in every installation (published by Azurite; no secret). */
const account = "devstoreaccount1";
const accountKey = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
const loopback = "127.0.0.1";

type Server = { start(): Promise<void>; close(): Promise<void>; getHttpServerAddress(): string };
type Constructor<T> = new (...parameters: readonly unknown[]) => T;
type AzuriteClasses = {
  readonly QueueServer: Constructor<Server>;
  readonly QueueConfiguration: Constructor<object>;
  readonly TableServer: Constructor<Server>;
  readonly TableConfiguration: Constructor<object>;
};

/**
 * Starts queues and tables on loopback ports in this process. Sends no telemetry. Several may run at the same time. `accessLog` gets the
 * emulator's own line for each answered request.
 */
export async function startAzurite(options: AzuriteOptions = {}, accessLog?: Writable): Promise<Azurite> {
  const { QueueServer, QueueConfiguration, TableServer, TableConfiguration } = loadAzurite();
  const inMemory = options.inMemory ?? true;
  const { queue: queuePort, table: tablePort } = options.ports ?? { queue: 0, table: 0 };
  if (!inMemory && options.location === undefined) throw new Error("Azurite on disk needs a location");
  const file = (name: string) => (inMemory ? "" : path.join(options.location ?? "", name));
  const extents = inMemory
    ? []
    : [{ locationId: "Default", locationPath: file("__queuestorage__"), maxConcurrency: 50 }];
  // The last parameters of both constructors are the same: accessLogWriteStream ... isMemoryPersistence. The order of the first ones differs.
  const access = [accessLog !== undefined, accessLog];
  const noDebugLog = [false, undefined];
  const rest = [false, true, "", "", "", undefined, false, inMemory];
  const queueData = [file("__azurite_db_queue__.json"), file("__azurite_db_queue_extent__.json"), extents];
  const queues = new QueueServer(
    new QueueConfiguration(loopback, queuePort, 5, ...queueData, ...access, ...noDebugLog, ...rest),
  );
  const tableData = [file("__azurite_db_table__.json"), false, ...access, undefined];
  const tables = new TableServer(new TableConfiguration(loopback, tablePort, 5, ...tableData, ...rest));
  await Promise.all([queues.start(), tables.start()]);
  const queueEndpoint = `${queues.getHttpServerAddress()}/${account}`;
  const tableEndpoint = `${tables.getHttpServerAddress()}/${account}`;
  return {
    queueEndpoint,
    tableEndpoint,
    connectionString:
      `DefaultEndpointsProtocol=http;AccountName=${account};AccountKey=${accountKey};` +
      `QueueEndpoint=${queueEndpoint};TableEndpoint=${tableEndpoint};`,
    async close() {
      await Promise.all([queues.close(), tables.close()]);
    },
  };
}

/**
 * Azurite's classes without its telemetry library. While Azurite is loaded, an empty module replaces `applicationinsights`. That saves 330 ms
 * and 60 MB, and nothing can be sent.
 */
function loadAzurite(): AzuriteClasses {
  const require = createRequire(import.meta.url);
  const undo = answerRequire("applicationinsights", {});
  const { noDeprecation } = process;
  // Azurite's dependencies use deprecated functions, which would print warnings to users.
  process.noDeprecation = true;
  try {
    // Azurite publishes no types for these classes; the shapes asserted here are the ones read in its 3.37.0 source.
    const load = (file: string): unknown =>
      (require(`azurite/dist/src/${file}.js`) as { default: unknown }).default;
    return {
      QueueServer: load("queue/QueueServer") as Constructor<Server>,
      QueueConfiguration: load("queue/QueueConfiguration") as Constructor<object>,
      TableServer: load("table/TableServer") as Constructor<Server>,
      TableConfiguration: load("table/TableConfiguration") as Constructor<object>,
    };
  } finally {
    process.noDeprecation = noDeprecation ?? false;
    undo();
  }
}
