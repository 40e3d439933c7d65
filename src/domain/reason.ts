import type { AmountUnit } from "./amount-text.ts";
import type { BucketKey } from "./bucket.ts";
import type { ArrayName } from "./ids.ts";
import type { LimitId } from "./limit.ts";
import type { Refusal } from "./refusal.ts";
import type { SizeUnit } from "./size.ts";
import type { Instant, Seconds } from "./units.ts";

/**
 * Why something cannot be placed: data with quantities. Only {@link renderReason} turns it into text. This type lists all kinds of refusal.
 */
export type Reason = Cause & {
  /** Present if the same is true of several buckets. `bucket` and the numbers are then those of the bucket that lacks least. */
  readonly across?: Across;
};

/** The buckets that one reason stands for. */
export interface Across {
  /** The first few buckets, preferred first. */
  readonly some: readonly BucketKey[];
  /** The number of VM sizes for each array. */
  readonly sizes: readonly { readonly array: ArrayName; readonly count: number }[];
  /** The largest amount asked, if the buckets differ in it. */
  readonly askedMost?: number;
  /** Where each bucket has a value that the job does not accept: the first few values, and the one most similar to an accepted value. */
  readonly found?: readonly string[];
  readonly nearest?: string;
}

type Cause =
  | {
      readonly code: "limit-reached";
      readonly limit: LimitId;
      /** In the limit's unit: in use, the maximum, left, and the additional amount asked. */
      readonly used: number;
      readonly max: number;
      readonly left: number;
      readonly asked: number;
      /** The bucket whose new nodes would count against it. */
      readonly bucket?: BucketKey;
      /** Deallocated nodes were to be started. They count against the limits as new nodes do. */
      readonly starting?: true;
      /** For a bucket's own limit: seconds from Azure's last lack of capacity there to the last observation. */
      readonly capacityFailureSeconds?: Seconds;
    }
  | { readonly code: "unknown-array"; readonly array: string; readonly known: readonly string[] }
  | { readonly code: "array-not-managed"; readonly array: string }
  | { readonly code: "no-bucket"; readonly array: string }
  /** Request sets define one dynamic node array differently. The definition of `first` counts. */
  | {
      readonly code: "dynamic-disputed";
      readonly array: string;
      readonly sets: readonly string[];
      readonly first: string;
    }
  /** The configuration's rules for senders forbid this to the request set. */
  | {
      readonly code: "sender-refused";
      readonly set: string;
      /** The key of the rule that would allow it. */
      readonly may: "write" | "dynamicArrays" | "nodeNames" | "attributes";
      /** The first few attributes. */
      readonly names?: readonly string[];
    }
  /** The cluster itself has a node array of this name. */
  | { readonly code: "dynamic-name-taken"; readonly array: string }
  /** The array exists, but no target names it any more. It keeps its nodes and gets no new ones. */
  | { readonly code: "dynamic-not-asked-for"; readonly array: string }
  | {
      readonly code: "extends-unknown";
      readonly array: string;
      readonly extends: string;
      readonly known: readonly string[];
    }
  /** The array extends a dynamic node array that extends another, too many times in a row, or the extensions form a circle. */
  | { readonly code: "extends-too-deep"; readonly array: string; readonly most: number }
  /** The cluster already has the maximum number of dynamic node arrays. */
  | { readonly code: "dynamic-too-many"; readonly array: string; readonly most: number }
  /** The nodes in a placement group have other attributes. All nodes of one scale set must have the same (cyclecloud-wire.md A.6). */
  | { readonly code: "attributes-differ"; readonly bucket: BucketKey }
  | {
      readonly code: "no-such-machine-type";
      readonly array: string;
      /** The first ones that are asked for. */
      readonly machineTypes: readonly string[];
      /** How many more are asked for. Absent: none. */
      readonly more?: number;
      /** The VM sizes that the array offers. */
      readonly offered: readonly string[];
    }
  | {
      readonly code: "does-not-fit";
      readonly bucket: BucketKey;
      readonly resource: string;
      readonly asked: number;
      readonly offered: number;
      readonly unit?: AmountUnit;
      /** Its plain numbers count in this unit, and the sentence shows a larger one. */
      readonly plainIn?: SizeUnit;
    }
  /** No bucket has all of this, although some may have each. What the buckets that come nearest have of it, in the same order. */
  | {
      readonly code: "not-together";
      readonly asked: readonly { readonly what: string; readonly value: string }[];
      readonly buckets: readonly { readonly bucket: BucketKey; readonly has: readonly string[] }[];
      /** No bucket has any of it. */
      readonly each?: true;
      /** The job has alternatives, and this is the one that comes nearest to a bucket. */
      readonly alternatives?: true;
    }
  /** A new node there would not meet the job's constraints. */
  | { readonly code: "requirement"; readonly bucket: BucketKey; readonly refusal: Refusal }
  | {
      readonly code: "pool-empty";
      readonly pool: string;
      /** Amounts of the pool: asked by all slots not yet placed, and left. */
      readonly asked: number;
      readonly left: number;
      /** The total amount of the pool, used and free. */
      readonly total?: number;
    }
  /** No message has reported the pool. */
  | {
      readonly code: "unknown-pool";
      readonly pool: string;
      readonly asked: number;
      /** The first few pools that there are, and the one that was probably meant. */
      readonly known: readonly string[];
      readonly nearest?: string;
    }
  | { readonly code: "bucket-invalid"; readonly bucket: BucketKey; readonly why: string }
  | {
      readonly code: "backing-off";
      readonly bucket: BucketKey;
      readonly until: Instant;
      readonly message: string;
      /** Seconds from Azure's last lack of capacity there to the last observation. */
      readonly capacityFailureSeconds?: Seconds;
    }
  | {
      readonly code: "group-too-large";
      readonly bucket: BucketKey;
      readonly asked: number;
      readonly max: number;
    }
  /** The configuration keeps the array for targets that name their nodes. */
  | { readonly code: "only-named"; readonly bucket: BucketKey }
  | { readonly code: "no-placement-group"; readonly bucket: BucketKey }
  /** The array is not for HPC (`Configuration.autoscale.is_hpc` is false), so no placement group is made there for jobs. */
  | { readonly code: "no-new-group"; readonly bucket: BucketKey }
  /** The node array has only this bucket's placement group, and the demand asks for more groups. */
  | { readonly code: "only-group"; readonly bucket: BucketKey }
  /** A group lacks nodes. Its nodes are kept, and no other group is made in its place before `until`. */
  | {
      readonly code: "group-filling";
      readonly bucket: BucketKey;
      readonly nodes: number;
      readonly size: number;
      readonly until: Instant;
    }
  /** This plan gave up a group that was not complete in time. */
  | {
      readonly code: "group-given-up";
      readonly bucket: BucketKey;
      readonly nodes: number;
      readonly size: number;
      readonly since: Instant;
    }
  /** Part of the job already runs, and the whole job must be in the same place. */
  | { readonly code: "bound-elsewhere"; readonly bucket: BucketKey; readonly home: BucketKey }
  | { readonly code: "spot-not-allowed"; readonly bucket: BucketKey }
  | { readonly code: "not-spot"; readonly bucket: BucketKey }
  /** A gang that may span buckets asks for more nodes at once than all buckets together have. */
  | { readonly code: "span-too-large"; readonly asked: number; readonly possible: number }
  /** The job needs nodes of its own, but this many nodes run other jobs. */
  | { readonly code: "not-exclusive"; readonly nodes: number }
  /**
   * Reasons are worked out for a limited number of unmet jobs, and jobs of higher rank used it up. `like` is one of these that asks for the
   * same nodes, as "set/demand".
   */
  | { readonly code: "too-many-unmet"; readonly told: number; readonly like?: string }
  /** The demand costs more than its request set may spend of the planning budget. Its possible placement is unknown. */
  | {
      readonly code: "left-out";
      /** The configuration's default resources cost too much, and not the demand. Absent: the demand does. */
      readonly by?: "configuration";
    }
  /** Finding out why it is unmet costs more than its request set may spend of the planning budget. */
  | { readonly code: "not-explained" }
  /** What became of a name is decided for this resume (docs/protocol.md, Named nodes). `why`: the sentence of then. */
  | {
      readonly code: "name-over";
      readonly name: string;
      readonly state: "refused" | "failed";
      readonly at: Instant;
      readonly why: string;
    }
  /** The name still belongs to a node that is no capacity. It is made when that has gone. */
  | { readonly code: "name-waits"; readonly name: string; readonly status: string }
  /** Its node was Ready before the resume that the name waits for, and is not of that. It is made anew when this one has gone. */
  | { readonly code: "name-earlier"; readonly name: string }
  /** Request sets under another rule for senders hold these names: the first few, and how many. */
  | { readonly code: "name-held"; readonly names: readonly string[]; readonly count: number }
  /** The node with this name is not where it was asked for. */
  | { readonly code: "name-elsewhere"; readonly name: string; readonly bucket: BucketKey }
  | { readonly code: "cluster-not-started"; readonly state: string; readonly targetState: string };
