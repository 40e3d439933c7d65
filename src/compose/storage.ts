import type { QueueAccount, StorageAccount } from "../adapters/system/storage-account.ts";
import type { Config } from "../config.ts";
import { managedIdentity } from "./identity.ts";

export function storageAccount(config: Config): StorageAccount {
  const { storage } = config;
  if (storage.kind === "connection-string") return storage;
  return {
    kind: "identity",
    tableEndpoint: storage.tableUri,
    queueEndpoint: storage.queueUri,
    credential: managedIdentity(storage.clientId),
  };
}

/** The account where demand arrives, if it is not the app's own. */
export function demandStorageAccount({ demandStorage }: Config): QueueAccount | undefined {
  if (demandStorage === undefined || demandStorage.kind === "connection-string") return demandStorage;
  const { queueUri, clientId } = demandStorage;
  return { kind: "identity", queueEndpoint: queueUri, credential: managedIdentity(clientId) };
}
