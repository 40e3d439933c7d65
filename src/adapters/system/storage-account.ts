import type { TokenCredential } from "@azure/identity";

/** How to reach the storage account: by its connection string (local), or by identity (Azure). */
export type StorageAccount =
  | { readonly kind: "connection-string"; readonly connectionString: string }
  | {
      readonly kind: "identity";
      readonly tableEndpoint: string;
      readonly queueEndpoint: string;
      readonly credential: TokenCredential;
    };

/** What of it a queue client needs. */
export type QueueAccount =
  | Extract<StorageAccount, { kind: "connection-string" }>
  | Omit<Extract<StorageAccount, { kind: "identity" }>, "tableEndpoint">;

/** The emulator speaks plain HTTP; nothing else may. */
export function speaksPlainHttp(connectionString: string): boolean {
  return /DefaultEndpointsProtocol=http;|UseDevelopmentStorage=true/i.test(connectionString);
}

/** No single call on the storage account may take longer, its retries included; the host's own limit is minutes away. */
export const CALL_LIMIT_MS = 20_000;

/** Few and quick: the protocol repeats what fails here, and a function that hangs holds up others. */
export const RETRIES = { count: 2, delayMs: 250, maxDelayMs: 2_000 } as const;
