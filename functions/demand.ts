import { app } from "@azure/functions";
import { putAside } from "../src/app/put-aside.ts";
import type { Composition } from "../src/compose.ts";
import { LONGEST_EXPIRATION_SECONDS } from "../src/domain/policy.ts";
import type { Instant } from "../src/domain/units.ts";
import { readDemandMessage } from "../src/wire/demand-message.ts";
import { compositionFor } from "./composition.ts";
import { putBack } from "./put-back.ts";
import type { Delivery } from "./queue-message.ts";
import { insertedAt, messageIdOf, messageOf, textOf } from "./queue-message.ts";
import { reconcileDemand } from "./reconcile.ts";

/**
 * Queue `demand`. Returning acknowledges the message: the demand is in Table Storage, or the message is in `demand-rejected`, or it has
 * nothing to say (older, expired, covered). Throwing leaves it to the host, which delivers it again and in the end moves it to
 * `demand-poison`: only storage that cannot be reached does that.
 */
export async function handleDemand(
  composed: Composition,
  message: unknown,
  context: Delivery,
): Promise<void> {
  const { ports } = composed.app;
  const now = ports.clock.now();
  const messageId = messageIdOf(context);
  const read = readDemandMessage(messageOf(message), {
    messageId,
    insertedAt: insertedAt(context, now),
    now,
    maxExpirationSeconds: LONGEST_EXPIRATION_SECONDS,
    knownClusters: new Set(ports.sites.keys()),
    senderTime: composed.senderTime,
  });
  switch (read.kind) {
    case "update": {
      const recorded = await composed.recorder.record(read.update);
      ports.log("demand", { cluster: read.update.cluster, set: read.update.set, outcome: recorded.kind });
      if (recorded.kind === "contended")
        throw new Error(`the record of ${read.update.cluster} is contended; deliver again`);
      if (recorded.kind === "refused")
        await putAside(composed.app, {
          messageId,
          rejectedAt: now,
          cluster: read.update.cluster,
          set: read.update.set,
          problems: recorded.problems,
          text: textOf(message),
        });
      if (recorded.kind === "newer-state") await putBack(composed, message, read.update);
      if (recorded.kind === "accepted") await reconcileDemand(composed, read.update.cluster, recorded.record);
      return;
    }
    case "wake":
      await untilDue(composed, read.at);
      await reconcileDemand(composed, read.cluster);
      return;
    case "stale":
      ports.log("demand", {
        cluster: read.cluster,
        set: read.set,
        outcome: "stale",
        expiredAt: read.expiredAt,
      });
      return;
    case "rejected":
      await putAside(composed.app, {
        messageId,
        rejectedAt: now,
        ...(read.cluster === undefined ? {} : { cluster: read.cluster }),
        ...(read.set === undefined ? {} : { set: read.set }),
        problems: read.problems,
        text: textOf(message),
      });
  }
}

/** Queue delays are whole seconds; the rest is waited for here, so that a wake message never comes too early. */
async function untilDue(composed: Composition, at: Instant | undefined): Promise<void> {
  const { clock } = composed.app.ports;
  const early = at === undefined ? 0 : at - clock.now();
  if (early > 0) await clock.sleep(Math.min(early, LONGEST_WAIT_MS));
}

const LONGEST_WAIT_MS = 60_000;

app.storageQueue("demand", {
  queueName: "demand",
  connection: "AzureWebJobsStorage",
  handler: (message: unknown, context) => handleDemand(compositionFor(context), message, context),
});
