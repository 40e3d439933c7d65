import type { Clock } from "../../app/ports/ports.ts";
import type { DemandQueue } from "../../app/ports/demand-queue.ts";
import { PortError } from "../../app/ports/port-error.ts";
import type { Seconds } from "../../domain/units.ts";
import { plusSeconds } from "../../domain/units.ts";
import type { QueueCaller } from "./queue-calls.ts";
import { limited, QUEUES } from "./queue-calls.ts";

/** Long enough to handle a few messages. If this process ends meanwhile, they reappear soon. Real seconds. */
const TAKEN_SECONDS: Seconds = 120;

/** The part of the demand queue about `demand-poison`. `speed`: seconds of the clock per real second. */
export function storagePoisonQueue(
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
