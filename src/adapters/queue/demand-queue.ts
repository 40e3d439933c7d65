import { QueueServiceClient } from "@azure/storage-queue";
import type { Clock, DemandQueue, RejectedMessage } from "../../app/ports.ts";
import { PortError } from "../../app/ports.ts";
import { plusSeconds } from "../../domain/units.ts";
import { asPortCall } from "../system/azure-errors.ts";
import type { QueueAccount } from "../system/storage-account.ts";
import { CALL_LIMIT_MS, RETRIES } from "../system/storage-account.ts";
import { rejectedText, travellingText } from "./message-text.ts";

/** The queues: demand comes in on the first; the host moves what failed too often to the second; we put aside in the third. */
export const QUEUES = { demand: "demand", poison: "demand-poison", rejected: "demand-rejected" } as const;

export interface StorageDemandQueue extends DemandQueue {
  /** Creates the three queues where they are missing. */
  ensureQueues(): Promise<void>;
}

export interface DemandQueueOptions {
  /** How many seconds of the clock a real second holds; delays in the queue are real. Default 1. */
  readonly speed?: number;
  /** Where demand comes in; absent: the account itself. What is put aside stays in the account, out of the senders' reach. */
  readonly demandAccount?: QueueAccount;
}

/** The service allows seven days; a delay must stay below the message's own life of seven days. */
const LONGEST_DELAY_SECONDS = 6 * 24 * 3600;
/**
 * What is put aside waits for a person, who may be away. Anyone who may send demand can fill the queue, so nothing waits longer. Real
 * seconds, as the service counts them.
 */
export const REJECTED_LIFE_SECONDS = 30 * 24 * 3600;
/** Long enough to handle a few messages. If this process dies meanwhile, they are seen again soon. Real seconds. */
const TAKEN_SECONDS = 120;
/** The service shows at most so many. */
const PEEKED = 32;

/** The demand queue over Azure Queue Storage. Messages are plain text (host.json says messageEncoding none). */
export function storageDemandQueue(
  account: QueueAccount,
  clock: Pick<Clock, "now">,
  options: DemandQueueOptions = {},
): StorageDemandQueue {
  const own = connect(account);
  const demand = options.demandAccount === undefined ? own : connect(options.demandAccount);
  const queueOf = (name: string) => (name === QUEUES.rejected ? own : demand).getQueueClient(name);
  const speed = options.speed ?? 1;
  const limited = () => ({ abortSignal: AbortSignal.timeout(CALL_LIMIT_MS) });
  // Rounded down: who wakes early waits the rest itself, who wakes late has lost it.
  const visibleAfter = (seconds: number) =>
    Math.min(LONGEST_DELAY_SECONDS, Math.max(0, Math.floor(seconds / speed)));

  const send = (
    name: string,
    text: string,
    life: { visibilityTimeout?: number; messageTimeToLive?: number },
  ) =>
    asPortCall(`send to queue ${name}`, async () => {
      await queueOf(name).sendMessage(text, { ...limited(), ...life });
    });

  return {
    async ensureQueues() {
      await Promise.all(
        Object.values(QUEUES).map((name) =>
          asPortCall(`create queue ${name}`, () => queueOf(name).createIfNotExists(limited())),
        ),
      );
    },
    wake: (cluster, at, id) =>
      send(QUEUES.demand, JSON.stringify({ version: 1, cluster, wake: true, at, id }), {
        visibilityTimeout: visibleAfter((at - clock.now()) / 1000),
      }),
    reject: (message) =>
      send(QUEUES.rejected, rejectedText(message), { messageTimeToLive: REJECTED_LIFE_SECONDS }),
    async rejected() {
      const queue = queueOf(QUEUES.rejected);
      const [properties, peeked] = await asPortCall(`peek at queue ${QUEUES.rejected}`, () =>
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
      const queue = queueOf(QUEUES.poison);
      const [properties, peeked] = await asPortCall(`peek at queue ${QUEUES.poison}`, () =>
        Promise.all([
          queue.getProperties(limited()),
          queue.peekMessages({ ...limited(), numberOfMessages: 1 }),
        ]),
      );
      const [oldest] = peeked.peekedMessageItems;
      const count = properties.approximateMessagesCount ?? peeked.peekedMessageItems.length;
      if (oldest === undefined) return { count };
      // The service dates messages in real time, and its own clock is the one to compare with.
      const age = (peeked.date ?? oldest.insertedOn).getTime() - oldest.insertedOn.getTime();
      return { count, oldestAt: plusSeconds(clock.now(), (-Math.max(0, age) / 1000) * speed) };
    },
    async takePoison(most) {
      const queue = queueOf(QUEUES.poison);
      const { receivedMessageItems } = await asPortCall(`receive from queue ${QUEUES.poison}`, () =>
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
      const queue = queueOf(QUEUES.poison);
      try {
        await asPortCall(`delete from queue ${QUEUES.poison}`, () =>
          queue.deleteMessage(messageId, receipt, limited()),
        );
      } catch (error) {
        // Somebody else has taken it since, and removes it.
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

function connect(account: QueueAccount): QueueServiceClient {
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

/** A message of ours; undefined: somebody else has put it there. */
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
