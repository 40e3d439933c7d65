import type { QueueClient } from "@azure/storage-queue";
import type { Clock } from "../../app/ports/ports.ts";
import type { DemandQueue } from "../../app/ports/demand-queue.ts";
import { PortError } from "../../app/ports/port-error.ts";
import type { Seconds } from "../../domain/units.ts";
import type { QueueAccount } from "../system/storage-account.ts";
import { readRejected, rejectedText, travellingText } from "./message-text.ts";
import type { QueueCaller, QueueName } from "./queue-calls.ts";
import { createQueueCaller, limited, QUEUES } from "./queue-calls.ts";
import { plusSeconds } from "../../domain/units.ts";

interface StorageDemandQueue extends DemandQueue {
  /** Creates those of the three queues that are missing. */
  ensureQueues(): Promise<void>;
}

interface DemandQueueOptions {
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
const REJECTED_LIFE_SECONDS: Seconds = 30 * 24 * 3600;
/** Maximum number of messages that the service shows. */
const PEEKED = 32;

/** The demand queue over Azure Queue Storage. Messages are plain text (host.json says messageEncoding none). */
export function storageDemandQueue(
  account: QueueAccount,
  clock: Pick<Clock, "now">,
  options: DemandQueueOptions = {},
): StorageDemandQueue {
  const call = createQueueCaller(account, options.demandAccount ?? account);
  const speed = options.speed ?? 1;
  // Rounded down: a message that arrives early can wait for the rest, a late one cannot make up the time.
  const visibleAfter = (seconds: Seconds) =>
    Math.min(LONGEST_DELAY_SECONDS, Math.max(0, Math.floor(seconds / speed)));
  const send = (
    name: QueueName,
    text: string,
    life: { visibilityTimeout?: number; messageTimeToLive?: number },
  ) =>
    call("send to", name, async (queue) => {
      await queue.sendMessage(text, { ...limited(), ...life });
    });
  return {
    async ensureQueues() {
      const create = (queue: QueueClient) => queue.createIfNotExists(limited());
      await Promise.all(Object.values(QUEUES).map((name) => call("create", name, create)));
    },
    wake: (cluster, at, id) =>
      send(QUEUES.demand, JSON.stringify({ version: 1, cluster, wake: true, at, id }), {
        visibilityTimeout: visibleAfter((at - clock.now()) / 1000),
      }),
    reject: (message) =>
      send(QUEUES.rejected, rejectedText(message), { messageTimeToLive: REJECTED_LIFE_SECONDS }),
    rejected: () => peekRejected(call),
    ...storagePoisonQueue(call, clock, speed),
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

async function peekRejected(call: QueueCaller): ReturnType<DemandQueue["rejected"]> {
  const [properties, peeked] = await call("peek at", QUEUES.rejected, (queue) =>
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
}

/** Long enough to handle a few messages. If this process ends meanwhile, they reappear soon. Real seconds. */
const TAKEN_SECONDS: Seconds = 120;

/** The part of the demand queue about `demand-poison`. `speed`: seconds of the clock per real second. */
function storagePoisonQueue(
  call: QueueCaller,
  clock: Pick<Clock, "now">,
  speed: number,
): Pick<DemandQueue, "poison" | "takePoison" | "dropPoison"> {
  return {
    async poison() {
      const [properties, peeked] = await call("peek at", QUEUES.poison, (queue) =>
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
      const { receivedMessageItems } = await call("receive from", QUEUES.poison, (queue) =>
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
        await call("delete from", QUEUES.poison, (queue) =>
          queue.deleteMessage(messageId, receipt, limited()),
        );
      } catch (error) {
        // Another instance has taken the message since, and removes it.
        if (!(error instanceof PortError && (error.status === 404 || error.status === 400))) throw error;
      }
    },
  };
}
