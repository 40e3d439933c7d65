import type { Problem } from "../domain/demand.ts";
import type { Settings, StorageSetting } from "./storage.ts";
import { isConnectionString, NOT_SHOWN } from "./storage.ts";

/** A storage account of which only the queues are used. With an identity, its queue service. */
export type DemandStorage =
  | Extract<StorageSetting, { kind: "connection-string" }>
  | Omit<Extract<StorageSetting, { kind: "identity" }>, "tableUri">;

const DEMAND = "AUTOSCALER_DEMAND";

/**
 * The account of the queues `demand` and `demand-poison`, if it is not the app's own: then no key or role of a sender opens the account in
 * which the app keeps its state. Written like every connection of the platform: a connection string, or AUTOSCALER_DEMAND__queueServiceUri
 * with an identity.
 */
export function readDemandStorage(settings: Settings, problems: Problem[]): DemandStorage | undefined {
  const connectionString = settings[DEMAND];
  if (connectionString !== undefined && connectionString !== "") {
    if (isConnectionString(connectionString)) return { kind: "connection-string", connectionString };
    problems.push({
      path: DEMAND,
      found: `${connectionString.length} characters ${NOT_SHOWN}`,
      expected: "the connection string of a storage account, with an AccountKey or a SharedAccessSignature",
    });
    return undefined;
  }
  const queueUri = settings[`${DEMAND}__queueServiceUri`];
  const clientId = settings[`${DEMAND}__clientId`];
  if (queueUri === undefined || queueUri === "") return undefined;
  return { kind: "identity", queueUri, ...(clientId === undefined ? {} : { clientId }) };
}

/** The `connection` of the queue triggers. Functions are registered with it before anything else is read. */
export function demandConnection(settings: Settings): string {
  return readDemandStorage(settings, []) === undefined ? "AzureWebJobsStorage" : DEMAND;
}
