import type { TokenCredential } from "@azure/identity";
import type { Milliseconds } from "../../domain/units.ts";

/** How to reach the storage account: by its connection string (local), or by identity (Azure). */
export type StorageAccount =
  | { readonly kind: "connection-string"; readonly connectionString: string }
  | {
      readonly kind: "identity";
      readonly tableEndpoint: string;
      readonly queueEndpoint: string;
      readonly credential: TokenCredential;
    };

/** The parts that a queue client needs. */
export type QueueAccount =
  | Extract<StorageAccount, { kind: "connection-string" }>
  | Omit<Extract<StorageAccount, { kind: "identity" }>, "tableEndpoint">;

/** The emulator uses plain HTTP. Nothing else may. */
export function speaksPlainHttp(connectionString: string): boolean {
  return /DefaultEndpointsProtocol=http;|UseDevelopmentStorage=true/i.test(connectionString);
}

/** Maximum duration of one call to the storage account, including its retries. The host's own limit is minutes longer. */
export const CALL_LIMIT_MS: Milliseconds = 20_000;

/** Few and quick: the protocol repeats failed work, and a function that hangs delays others. */
export const RETRIES = { count: 2, delayMs: 250, maxDelayMs: 2_000 } as const;
