import type { DemandMessage, NodearrayMessage } from "../wire/message/message.ts";
import { withoutAbsent } from "../domain/without-absent.ts";

/** A node array and its total target, as in `jetpack.autoscale.set`. */
export interface ArrayTarget {
  readonly name: string;
  /** Cores, rounded up to whole nodes. */
  readonly corecount?: number;
  readonly instancecount?: number;
}

/** The target of one node array, for {@link updateOf}. */
export function targetOf({ name, corecount, instancecount }: ArrayTarget): NodearrayMessage {
  return {
    Name: name,
    ...withoutAbsent({ TargetCoreCount: corecount, TargetCount: instancecount }),
  };
}

export interface Envelope {
  readonly cluster: string;
  /** Default "standard". */
  readonly requestSet?: string;
  /** Seconds. Default 300. */
  readonly expirationInterval?: number;
}

/**
 * A message with the targets of a request set, as in `jetpack.autoscale.update`. It replaces all targets of the set: a node array that is
 * missing has no target any more. An empty list empties the set.
 */
export function updateOf(
  { cluster, requestSet, expirationInterval }: Envelope,
  nodearrays: NodearrayMessage | readonly NodearrayMessage[],
): DemandMessage {
  return {
    version: 1,
    cluster,
    ...withoutAbsent({ requestSet, expirationInterval }),
    nodearrays,
  };
}
