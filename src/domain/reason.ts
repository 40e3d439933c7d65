import type { BucketKey } from "./bucket.ts";
import { bucketText } from "./bucket.ts";
import type { Refusal } from "./refusal.ts";
import { renderRefusal } from "./refusal.ts";
import type { Instant } from "./units.ts";
import { isoTime } from "./units.ts";

/** The shared ceilings on new nodes (cyclecloud-wire.md A.3, semantics 1). */
export type LimitKind =
  | "cluster"
  | "nodearray"
  | "family-quota"
  | "regional-quota"
  | "regional-spot-quota"
  | "bucket"
  | "placement-group"
  | "request-set-cap"
  | "user-cap";

export interface LimitId {
  readonly kind: LimitKind;
  /** Whose: the array, family or region; the bucket's text; empty for the cluster. */
  readonly name: string;
  readonly unit: "nodes" | "cores";
}

/** Why something cannot be had: data with quantities, rendered by {@link renderReason} and nowhere else. All kinds of refusal are here. */
export type Reason =
  | {
      readonly code: "limit-reached";
      readonly limit: LimitId;
      /** In the limit's unit: in use, at most, left, and asked on top. */
      readonly used: number;
      readonly max: number;
      readonly left: number;
      readonly asked: number;
    }
  | { readonly code: "unknown-array"; readonly array: string; readonly known: readonly string[] }
  | { readonly code: "array-not-managed"; readonly array: string }
  | { readonly code: "no-bucket"; readonly array: string }
  | {
      readonly code: "no-such-machine-type";
      readonly array: string;
      readonly machineTypes: readonly string[];
    }
  | {
      readonly code: "does-not-fit";
      readonly bucket: BucketKey;
      readonly resource: string;
      readonly asked: number;
      readonly offered: number;
    }
  /** What a new node there would be does not meet the job's constraints. */
  | { readonly code: "requirement"; readonly bucket: BucketKey; readonly refusal: Refusal }
  | {
      readonly code: "pool-empty";
      readonly pool: string;
      /** Of the pool: asked by all slots that are left, and left. */
      readonly asked: number;
      readonly left: number;
    }
  | { readonly code: "bucket-invalid"; readonly bucket: BucketKey; readonly why: string }
  | {
      readonly code: "backing-off";
      readonly bucket: BucketKey;
      readonly until: Instant;
      readonly message: string;
    }
  | {
      readonly code: "group-too-large";
      readonly bucket: BucketKey;
      readonly asked: number;
      readonly max: number;
    }
  | { readonly code: "no-placement-group"; readonly bucket: BucketKey }
  | { readonly code: "cluster-not-started"; readonly state: string; readonly targetState: string };

/** One sentence for people, with the numbers. */
export function renderReason(reason: Reason): string {
  switch (reason.code) {
    case "limit-reached": {
      const name = reason.limit.name === "" ? "" : ` ${reason.limit.name}`;
      const what = `${reason.limit.kind.replaceAll("-", " ")}${name}`;
      return `${what}: ${reason.used} of ${reason.max} ${reason.limit.unit} used, ${reason.asked} more needed, ${reason.left} left`;
    }
    case "unknown-array":
      return `node array "${reason.array}" does not exist in the cluster (known: ${reason.known.join(", ") || "none"})`;
    case "array-not-managed":
      return `node array "${reason.array}" is not autoscaled (Configuration.autoscale.enabled is false, or it is not in the configured nodearrays)`;
    case "no-bucket":
      return `node array "${reason.array}" offers no VM size`;
    case "no-such-machine-type":
      return `node array "${reason.array}" offers none of ${reason.machineTypes.join(", ")}`;
    case "does-not-fit":
      return `${bucketText(reason.bucket)}: ${reason.resource} ${reason.asked} asked of one node, ${reason.offered} offered`;
    case "requirement":
      return `${bucketText(reason.bucket)}: ${renderRefusal(reason.refusal)}`;
    case "pool-empty":
      return `pool ${reason.pool}: ${reason.asked} more needed, ${reason.left} left`;
    case "bucket-invalid":
      return `${bucketText(reason.bucket)}: CycleCloud offers no new nodes here (${reason.why})`;
    case "backing-off":
      return `${bucketText(reason.bucket)}: pausing until ${isoTime(reason.until)} after: ${reason.message}`;
    case "group-too-large":
      return `${bucketText(reason.bucket)}: ${reason.asked} nodes in one placement group asked, at most ${reason.max} possible`;
    case "no-placement-group":
      return `${bucketText(reason.bucket)}: this VM size has no placement groups here`;
    case "cluster-not-started":
      return `the cluster is not started (state ${reason.state}, target state ${reason.targetState})`;
  }
}
