import type { QueueClient, QueueServiceClient } from "@azure/storage-queue";
import { asPortCall, readFailure } from "../system/azure-errors.ts";
import type { QueueAccount } from "../system/storage-account.ts";
import { CALL_LIMIT_MS, RETRIES } from "../system/storage-account.ts";

/** Demand arrives in the first queue. The host moves messages that failed too often to the second. The app puts messages aside in the third. */
export const QUEUES = { demand: "demand", poison: "demand-poison", rejected: "demand-rejected" } as const;

export type QueueName = (typeof QUEUES)[keyof typeof QUEUES];

/** Calls a queue by its name. Throws only PortError, with the verb and the queue as its operation. */
export type QueueCaller = <T>(
  verb: string,
  name: QueueName,
  call: (queue: QueueClient) => Promise<T>,
) => Promise<T>;

/**
 * Calls the queues of two accounts: `demand` has the queue where demand arrives and its poison queue, `own` has the rejected messages.
 * Creates a missing queue and tries the call once more: the app may run before its first tick has created the queues (docs/decisions.md, "A
 * start makes no tables and queues").
 */
export function createQueueCaller(own: QueueAccount, demand: QueueAccount): QueueCaller {
  const openOwn = connecting(own);
  const openDemand = demand === own ? openOwn : connecting(demand);
  return (verb, name, call) =>
    asPortCall(`${verb} queue ${name}`, async () => {
      const service = await (name === QUEUES.rejected ? openOwn : openDemand)();
      const queue = service.getQueueClient(name);
      try {
        return await call(queue);
      } catch (error) {
        if (!isQueueMissing(error)) throw error;
        await queue.createIfNotExists(limited());
        return call(queue);
      }
    });
}

/** Options that end a call which takes too long. */
export const limited = () => ({ abortSignal: AbortSignal.timeout(CALL_LIMIT_MS) });

function isQueueMissing(error: unknown): boolean {
  const { status, code } = readFailure(error);
  return status === 404 && code === "QueueNotFound";
}

/** Returns the account's only client, created at the first call. */
function connecting(account: QueueAccount): () => Promise<QueueServiceClient> {
  let service: Promise<QueueServiceClient> | undefined;
  return () => (service ??= connect(account));
}

/** Loads the SDK, which is too slow for a cold start (docs/benchmarks.md, Loading). */
async function connect(account: QueueAccount): Promise<QueueServiceClient> {
  const { QueueServiceClient } = await import("@azure/storage-queue");
  const options = {
    retryOptions: {
      maxTries: RETRIES.count + 1,
      retryDelayInMs: RETRIES.delayMs,
      maxRetryDelayInMs: RETRIES.maxDelayMs,
    },
  };
  return account.kind === "identity"
    ? new QueueServiceClient(account.queueEndpoint, account.credential, options)
    : QueueServiceClient.fromConnectionString(account.connectionString, options);
}
