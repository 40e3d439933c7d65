import type { QueueClient, QueueServiceClient } from "@azure/storage-queue";
import type { Clock } from "../../app/ports/clock.ts";
import type { DemandQueue, RejectedMessage } from "../../app/ports/demand-queue.ts";
import { PortError } from "../../app/ports/port-error.ts";
import { plusSeconds } from "../../domain/units.ts";
import { asPortCall, readFailure } from "../system/azure-errors.ts";
import type { QueueAccount } from "../system/storage-account.ts";
import { CALL_LIMIT_MS, RETRIES } from "../system/storage-account.ts";
import { rejectedText, travellingText } from "./message-text.ts";
import type { Seconds } from "../../domain/units.ts";

/** Demand arrives in the first queue. The host moves messages that failed too often to the second. The app puts messages aside in the third. */
export const QUEUES = { demand: "demand", poison: "demand-poison", rejected: "demand-rejected" } as const;

export interface StorageDemandQueue extends DemandQueue {
  /** Creates those of the three queues that are missing. */
  ensureQueues(): Promise<void>;
}

export interface DemandQueueOptions {
  /** Seconds of the clock per real second. Delays in the queue are real. Default 1. */
  readonly speed?: number;
  /** Where demand arrives. Absent: the account itself. Rejected messages stay in the account, where senders cannot reach them. */
  readonly demandAccount?: QueueAccount;
}

/** The service allows seven days; a delay must stay below the message's own life of seven days. */
const LONGEST_DELAY_SECONDS: Seconds = 6 * 24 * 3600;
/**
 * How long rejected messages wait for a person, who may be away. Anyone who may send demand can fill the queue, so nothing waits longer.
 * Real seconds, as the service counts them.
 */
export const REJECTED_LIFE_SECONDS: Seconds = 30 * 24 * 3600;
/** Long enough to handle a few messages. If this process ends meanwhile, they reappear soon. Real seconds. */
const TAKEN_SECONDS: Seconds = 120;
/** Maximum number of messages that the service shows. */
const PEEKED = 32;

/** The demand queue over Azure Queue Storage. Messages are plain text (host.json says messageEncoding none). */
export function storageDemandQueue(
  account: QueueAccount,
  clock: Pick<Clock, "now">,
  options: DemandQueueOptions = {},
): StorageDemandQueue {
  const own = connecting(account);
  const demand = options.demandAccount === undefined ? own : connecting(options.demandAccount);
  const speed = options.speed ?? 1;
  // Rounded down: a message that arrives early can wait for the rest, a late one cannot make up the time.
  const visibleAfter = (seconds: Seconds) =>
    Math.min(LONGEST_DELAY_SECONDS, Math.max(0, Math.floor(seconds / speed)));

  /** Creates a missing queue and tries the call once more: the app may run before its first tick has created the queues. */
  const calling = <T>(verb: string, name: QueueName, call: (queue: QueueClient) => Promise<T>) =>
    asPortCall(`${verb} queue ${name}`, async () => {
      const service = await (name === QUEUES.rejected ? own : demand)();
      const queue = service.getQueueClient(name);
      try {
        return await call(queue);
      } catch (error) {
        if (!isQueueMissing(error)) throw error;
        await queue.createIfNotExists(limited());
        return call(queue);
      }
    });

  const send = (
    name: QueueName,
    text: string,
    life: { visibilityTimeout?: number; messageTimeToLive?: number },
  ) =>
    calling("send to", name, async (queue) => {
      await queue.sendMessage(text, { ...limited(), ...life });
    });

  return {
    async ensureQueues() {
      const create = (queue: QueueClient) => queue.createIfNotExists(limited());
      await Promise.all(Object.values(QUEUES).map((name) => calling("create", name, create)));
    },
    wake: (cluster, at, id) =>
      send(QUEUES.demand, JSON.stringify({ version: 1, cluster, wake: true, at, id }), {
        visibilityTimeout: visibleAfter((at - clock.now()) / 1000),
      }),
    reject: (message) =>
      send(QUEUES.rejected, rejectedText(message), { messageTimeToLive: REJECTED_LIFE_SECONDS }),
    async rejected() {
      const [properties, peeked] = await calling("peek at", QUEUES.rejected, (queue) =>
        Promise.all([
          queue.getProperties(limited()),
          queue.peekMessages({ ...limited(), numberOfMessages: PEEKED }),
        ]),
      );
      const oldest = peeked.peekedMessageItems.map(({ messageText }) => readRejected(messageText));
      return {
        count: properties.approximateMessagesCount ?? oldest.length,
        oldest: oldest.filter((message) => message !== undefined),
      };
    },
    async poison() {
      const [properties, peeked] = await calling("peek at", QUEUES.poison, (queue) =>
        Promise.all([
          queue.getProperties(limited()),
          queue.peekMessages({ ...limited(), numberOfMessages: 1 }),
        ]),
      );
      const [oldest] = peeked.peekedMessageItems;
      const count = properties.approximateMessagesCount ?? peeked.peekedMessageItems.length;
      if (oldest === undefined) return { count };
      // The service dates messages in real time, so its own clock is used for the comparison.
      const age = (peeked.date ?? oldest.insertedOn).getTime() - oldest.insertedOn.getTime();
      return { count, oldestAt: plusSeconds(clock.now(), (-Math.max(0, age) / 1000) * speed) };
    },
    async takePoison(most) {
      const { receivedMessageItems } = await calling("receive from", QUEUES.poison, (queue) =>
        queue.receiveMessages({ ...limited(), numberOfMessages: most, visibilityTimeout: TAKEN_SECONDS }),
      );
      return receivedMessageItems.map(({ messageId, messageText, dequeueCount, popReceipt }) => ({
        messageId,
        text: messageText,
        taken: dequeueCount,
        receipt: popReceipt,
      }));
    },
    async dropPoison({ messageId, receipt }) {
      try {
        await calling("delete from", QUEUES.poison, (queue) =>
          queue.deleteMessage(messageId, receipt, limited()),
        );
      } catch (error) {
        // Another instance has taken the message since, and removes it.
        if (!(error instanceof PortError && (error.status === 404 || error.status === 400))) throw error;
      }
    },
    async resend(text, delaySeconds) {
      const travelling = travellingText(text);
      if (travelling === undefined) {
        throw new PortError(
          "unexpected",
          `send to queue ${QUEUES.demand}`,
          `a text of ${text.length} characters does not fit`,
        );
      }
      await send(QUEUES.demand, travelling, { visibilityTimeout: visibleAfter(delaySeconds) });
    },
  };
}

type QueueName = (typeof QUEUES)[keyof typeof QUEUES];

const limited = () => ({ abortSignal: AbortSignal.timeout(CALL_LIMIT_MS) });

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

/** A message of ours. Undefined if another program put it there. */
function readRejected(text: string): RejectedMessage | undefined {
  try {
    const message: unknown = JSON.parse(text);
    return isRejected(message) ? message : undefined;
  } catch {
    // Not JSON, so not ours. It stays in the queue and in the count.
    return undefined;
  }
}

function isRejected(value: unknown): value is RejectedMessage {
  if (typeof value !== "object" || value === null) return false;
  const { messageId, rejectedAt, problems, text } = value as Partial<Record<keyof RejectedMessage, unknown>>;
  return (
    typeof messageId === "string" &&
    typeof rejectedAt === "number" &&
    Array.isArray(problems) &&
    typeof text === "string"
  );
}
