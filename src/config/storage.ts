import type { Problem } from "../domain/demand.ts";

export type Settings = Readonly<Record<string, string | undefined>>;

export type StorageSetting =
  | { readonly kind: "connection-string"; readonly connectionString: string }
  | {
      readonly kind: "identity";
      readonly tableUri: string;
      readonly queueUri: string;
      readonly clientId?: string;
    };

const CONNECTION_STRING = /^\s*UseDevelopmentStorage=true|(^|;)\s*(AccountKey|SharedAccessSignature)=[^;\s]/i;
export const NOT_SHOWN = "(not shown: they may hold a secret)";

export function isConnectionString(text: string): boolean {
  return CONNECTION_STRING.test(text);
}

/** True if the platform could not resolve a setting's reference to Key Vault. The setting then holds the reference, which is no secret. */
export function isUnresolved(setting: string): boolean {
  return setting.startsWith("@Microsoft.KeyVault(");
}

export const UNRESOLVED = {
  found: "a reference to Key Vault that was not resolved",
  expected: "a secret that is there, and the role Key Vault Secrets User on it for the identity of the app",
} as const;

/** The names that Azure Functions uses for the host's own storage account, so that one identity serves both (platform.md section 4). */
export function readStorage(settings: Settings, problems: Problem[]): StorageSetting | undefined {
  const connectionString = settings["AzureWebJobsStorage"];
  if (connectionString !== undefined && connectionString !== "") {
    if (isConnectionString(connectionString)) return { kind: "connection-string", connectionString };
    problems.push({
      path: "AzureWebJobsStorage",
      found: `${connectionString.length} characters ${NOT_SHOWN}`,
      expected: "the connection string of a storage account, with an AccountKey or a SharedAccessSignature",
    });
    return undefined;
  }
  const tableUri = settings["AzureWebJobsStorage__tableServiceUri"];
  const queueUri = settings["AzureWebJobsStorage__queueServiceUri"];
  const clientId = settings["AzureWebJobsStorage__clientId"];
  if (tableUri !== undefined && queueUri !== undefined) {
    return { kind: "identity", tableUri, queueUri, ...(clientId === undefined ? {} : { clientId }) };
  }
  problems.push({
    path: "AzureWebJobsStorage",
    found: "nothing",
    expected:
      "a connection string, or AzureWebJobsStorage__tableServiceUri and AzureWebJobsStorage__queueServiceUri",
  });
  return undefined;
}
