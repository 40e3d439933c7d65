import type { RejectedMessage } from "../src/app/ports/demand-queue.ts";
import { putAside } from "../src/app/demand/put-aside.ts";
import type { Composition } from "../src/compose.ts";
import type { Problem } from "../src/domain/demand.ts";
import type { Delivery } from "./queue-message.ts";
import { messageIdOf, textOf } from "./queue-message.ts";

/** Puts aside a message of the queue `demand`, as the host delivered it. Throws PortError only. */
export function putDeliveryAside(
  composed: Composition,
  message: unknown,
  context: Delivery,
  source: Source,
  problems: readonly Problem[],
): Promise<void> {
  return putMessageAside(
    composed,
    { messageId: messageIdOf(context), text: textOf(message) },
    source,
    problems,
  );
}

/** The cluster and the set of a message, as far as they could be read. */
type Source = Pick<RejectedMessage, "cluster" | "set">;

/** Puts a message aside now, with its problems. Throws PortError only. */
export async function putMessageAside(
  { app }: Composition,
  { messageId, text }: Pick<RejectedMessage, "messageId" | "text">,
  { cluster, set }: Source,
  problems: readonly Problem[],
): Promise<void> {
  await putAside(app, {
    messageId,
    rejectedAt: app.ports.clock.now(),
    ...(cluster === undefined ? {} : { cluster }),
    ...(set === undefined ? {} : { set }),
    problems,
    text,
  });
}
