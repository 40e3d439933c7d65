import type { SetName } from "../../domain/ids.ts";
import { setNamesOf } from "../../domain/request-sets.ts";
import type { Bodies } from "../../domain/bodies.ts";
import { noteMoreRejected } from "../../domain/more-rejected.ts";
import { noteNoAmounts } from "../../domain/no-amount.ts";
import { noteDemand } from "./note-demand.ts";
import { noteSenders } from "./note-senders.ts";
import type { LoadedRecord } from "../ports/record-store.ts";
import type { Ports } from "../ports/ports.ts";
import { PortError } from "../ports/port-error.ts";
import type { RecordedDemand } from "./record-demand.ts";

/** What the sender of an accepted update should know, one sentence each. Never throws: the demand is durable, so a failure only costs notes. */
export async function noteAccepted(
  ports: Ports,
  { changed, record, update, before }: RecordedDemand,
): Promise<readonly string[]> {
  try {
    // A renewal stays cheap: what can be said of its demand was said when it came.
    const bodies = changed && before !== undefined ? await readKnown(ports, before, update.set) : undefined;
    const held = before?.record.sets.get(update.set);
    const demand = held?.live === true ? bodies?.demands.get(held.digest) : undefined;
    return [
      ...noteMoreRejected(update.demand),
      ...noteNoAmounts(update.demand?.demands ?? []),
      ...noteDemand(update, {
        record,
        ...(bodies === undefined ? {} : { bodies }),
        ...(demand === undefined ? {} : { before: demand }),
      }),
      ...noteSenders(update, record, await ports.policyOf(update.cluster)),
    ];
  } catch (error) {
    ports.log("notes-left-out", { cluster: update.cluster, set: update.set, message: String(error) });
    return [];
  }
}

/** What is known of the cluster and of one set: the demand of all sets may be large. Without it there are fewer notes. */
async function readKnown({ store }: Ports, before: LoadedRecord, set: SetName): Promise<Bodies | undefined> {
  const names = setNamesOf(before.record).filter((name) => name !== set);
  const others = new Map(names.map((name) => [name, "memory" as const]));
  try {
    return await store.bodies(before, others);
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    return undefined;
  }
}
