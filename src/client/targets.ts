import type { DemandMessage, NodearrayMessage } from "../wire/message.ts";

/** `jetpack.autoscale.set`: one node array and how much of it is wanted in all. */
export interface ArrayTarget {
  readonly name: string;
  /** Cores, rounded up to whole nodes. */
  readonly corecount?: number;
  readonly instancecount?: number;
}

/** The one-array form of an update. */
export function targetOf({ name, corecount, instancecount }: ArrayTarget): NodearrayMessage {
  return {
    Name: name,
    ...(corecount === undefined ? {} : { TargetCoreCount: corecount }),
    ...(instancecount === undefined ? {} : { TargetCount: instancecount }),
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
 * `jetpack.autoscale.update`: everything that this request set wants now, as a message to send. It replaces what the set wanted before:
 * a node array that is missing is no longer wanted. An empty list empties the set.
 */
export function updateOf(
  { cluster, requestSet, expirationInterval }: Envelope,
  nodearrays: NodearrayMessage | readonly NodearrayMessage[],
): DemandMessage {
  return {
    version: 1,
    cluster,
    ...(requestSet === undefined ? {} : { requestSet }),
    ...(expirationInterval === undefined ? {} : { expirationInterval }),
    nodearrays,
  };
}
