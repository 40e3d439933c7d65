import type { AmountUnit } from "./amount-text.ts";
import { amountText, amountTexts } from "./amount-text.ts";
import type { BucketKey } from "./bucket.ts";
import { bucketText } from "./bucket.ts";
import type { ArrayName } from "./ids.ts";
import { nearest } from "./nearest.ts";
import type { Refusal } from "./refusal.ts";
import { optionsText, renderRefusal } from "./refusal.ts";
import { ALLOW_ATTRIBUTES } from "./sender-rules.ts";
import type { Instant, Seconds } from "./units.ts";
import { isoTime } from "./units.ts";

/** The limits on new nodes that buckets share (cyclecloud-wire.md A.3, semantics 1), and our own caps on one set or user. */
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
  /** The name of the array, family, region, set or user, or the bucket's text. Empty for the cluster. */
  readonly name: string;
  readonly unit: "nodes" | "cores";
  /** For a request set's cap: several sets share it, and `name` lists them. */
  readonly shared?: true;
  /** For a family quota: no table has the VM size, so the family is guessed from its name. */
  readonly guessed?: true;
}

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
      /** Absent in plans of older releases, in which no definition counted. */
      readonly first?: string;
    }
  /** The configuration's rules for senders forbid this to the request set. */
  | {
      readonly code: "sender-refused";
      readonly set: string;
      /** The key of the rule that would allow it. */
      readonly may: "write" | "dynamicArrays" | "attributes";
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
      readonly machineTypes: readonly string[];
      /** The VM sizes that the array offers. Absent in plans of older releases. */
      readonly offered?: readonly string[];
    }
  | {
      readonly code: "does-not-fit";
      readonly bucket: BucketKey;
      readonly resource: string;
      readonly asked: number;
      readonly offered: number;
      readonly unit?: AmountUnit;
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
  | { readonly code: "left-out" }
  /** Finding out why it is unmet costs more than its request set may spend of the planning budget. */
  | { readonly code: "not-explained" }
  | { readonly code: "cluster-not-started"; readonly state: string; readonly targetState: string };

/** Maximum length of one sentence, in characters. A second bound: the names in a reason are bounded where it is made. */
const MOST_CHARACTERS = 2000;

/** One sentence for users, with the numbers. A sentence that is too long is cut and ends with "…". */
export function renderReason(reason: Reason): string {
  const text = sentenceOf(reason);
  return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text;
}

function sentenceOf(reason: Reason): string {
  switch (reason.code) {
    case "limit-reached":
      return limitSentence(reason);
    case "unknown-array":
      return `node array "${reason.array}" does not exist in the cluster (${nearText(reason.array, reason.known)}known: ${reason.known.join(", ") || "none"})`;
    case "array-not-managed":
      return `node array "${reason.array}" is not autoscaled (Configuration.autoscale.enabled is false, or it is not in the configured nodearrays)`;
    case "no-bucket":
      return `node array "${reason.array}" offers no VM size`;
    case "dynamic-disputed":
      return disputeText(reason);
    case "sender-refused":
      return refusedSenderText(reason);
    case "dynamic-name-taken":
      return `node array "${reason.array}" is one of the cluster's own: a dynamic node array needs a name of its own`;
    case "dynamic-not-asked-for":
      return `no request set asks for dynamic node array "${reason.array}" any more: it keeps its nodes and gets no new ones`;
    case "extends-unknown":
      return `dynamic node array "${reason.array}" extends "${reason.extends}", which the cluster does not have (${nearText(reason.extends, reason.known)}known: ${reason.known.join(", ") || "none"})`;
    case "extends-too-deep":
      return `dynamic node array "${reason.array}" extends more than ${reason.most} dynamic node arrays in a row, or itself through others`;
    case "dynamic-too-many":
      return `dynamic node array "${reason.array}" is one too many: a cluster has at most ${reason.most}`;
    case "attributes-differ":
      return `${placesText(reason.bucket, reason.across)}: the nodes in its placement group ${reason.bucket.placementGroup ?? ""} have other attributes, and those of one scale set must be the same`;
    case "no-such-machine-type": {
      const near = reason.machineTypes.map((type) => nearest(type, reason.offered ?? []));
      const found = [...new Set(near.filter((name) => name !== undefined))];
      const hint = found.length === 0 ? "" : ` (nearest: ${found.join(", ")})`;
      return `node array "${reason.array}" offers none of ${reason.machineTypes.join(", ")}${hint}`;
    }
    case "does-not-fit": {
      const [asked, offered] = amountTexts(reason.asked, reason.offered, reason.unit);
      const most = reason.across === undefined ? "" : "at most ";
      return `${placesText(reason.bucket, reason.across)}: ${reason.resource} ${asked} asked of one node, ${most}${offered} offered`;
    }
    case "requirement":
      return `${placesText(reason.bucket, reason.across)}: ${requirementText(reason.refusal, reason.across)}`;
    case "pool-empty": {
      const { total, left } = reason;
      const used = total === undefined ? "" : `${amountText(total - left)} of ${amountText(total)} used, `;
      return `pool ${reason.pool}: ${used}${amountText(reason.asked)} more needed, ${amountText(left)} left`;
    }
    case "bucket-invalid":
      return `${placesText(reason.bucket, reason.across)}: CycleCloud offers no new nodes here (${reason.why})`;
    case "backing-off": {
      const or = reason.across === undefined ? "" : " or longer";
      return `${placesText(reason.bucket, reason.across)}: pausing until ${isoTime(reason.until)}${or} after: ${reason.message}${failureText(reason)}`;
    }
    case "group-too-large": {
      const asked = rangeText(reason.asked, reason.across);
      return `${placesText(reason.bucket, reason.across)}: ${asked} nodes in one placement group asked, at most ${reason.max} possible`;
    }
    case "no-placement-group": {
      const which = reason.across === undefined ? "this VM size has" : "these VM sizes have";
      return `${placesText(reason.bucket, reason.across)}: ${which} no placement groups here`;
    }
    case "no-new-group": {
      const who = reason.across === undefined ? `node array ${reason.bucket.array} makes` : "they make";
      return `${placesText(reason.bucket, reason.across)}: ${who} no placement groups (Configuration.autoscale.is_hpc is false)`;
    }
    case "only-group":
      return `${placesText(reason.bucket, reason.across)}: the node array has no other placement group`;
    case "group-filling":
      return `${placesText(reason.bucket, reason.across)}: has ${reason.nodes} of ${reason.size} nodes of a group, and is being filled until ${isoTime(reason.until)}`;
    case "group-given-up":
      return `${placesText(reason.bucket, reason.across)}: had only ${reason.nodes} of ${reason.size} nodes of a group, incomplete since ${isoTime(reason.since)}`;
    case "bound-elsewhere":
      return `${placesText(reason.bucket, reason.across)}: the job runs in ${bucketText(reason.home)} and must be there as a whole`;
    case "spot-not-allowed":
      return `${placesText(reason.bucket, reason.across)}: nodes may be evicted (spot), which the job does not allow`;
    case "not-spot":
      return `${placesText(reason.bucket, reason.across)}: nodes are not spot, and the job asks for spot only`;
    case "span-too-large":
      return `${reason.asked} nodes asked for at once, ${reason.possible} possible in all buckets together`;
    case "not-exclusive":
      return `${reason.nodes === 1 ? "1 node has" : `${reason.nodes} nodes have`} other jobs, and the job wants nodes to itself`;
    case "too-many-unmet": {
      const like =
        reason.like === undefined ? "" : `; ${reason.like} is one of them, and asks for the same nodes`;
      return `reasons are worked out for the ${reason.told} unmet jobs of highest rank${like}`;
    }
    case "left-out":
      return "left out of this plan: its request set costs more than its share of the planning budget";
    case "not-explained":
      return "not explained: finding the reason costs more than its request set's share of the planning budget";
    case "cluster-not-started":
      return `the cluster is not started (state ${reason.state}, target state ${reason.targetState})`;
  }
}

function disputeText({ array, sets, first }: Extract<Reason, { readonly code: "dynamic-disputed" }>): string {
  const differ = `dynamic node array "${array}" is defined differently by the request sets ${sets.join(", ")}`;
  return first === undefined
    ? `${differ}: nothing is created for it until they agree`
    : `${differ}: it belongs to ${first}, which defined it first, until that set lapses or leaves it out`;
}

function refusedSenderText({
  set,
  may,
  names = [],
}: Extract<Reason, { readonly code: "sender-refused" }>): string {
  const by = `the configuration (senders) does not let request set "${set}"`;
  switch (may) {
    case "write":
      return `${by} ask for anything`;
    case "dynamicArrays":
      return `${by} define dynamic node arrays`;
    case "attributes":
      return `${by} set ${names.join(", ")}: allow it in ${ALLOW_ATTRIBUTES}`;
  }
}

/** The name of a limit in a sentence. */
export function limitText({ kind, name, guessed, shared }: LimitId): string {
  switch (kind) {
    case "cluster":
      return "cluster";
    case "nodearray":
      return `node array ${name}`;
    case "request-set-cap":
      return shared === true ? `cap that the request sets ${name} share` : `cap of request set ${name}`;
    case "user-cap":
      return `cap of user ${name}`;
    default:
      return `${kind.replaceAll("-", " ")} ${name}${guessed === true ? GUESSED : ""}`;
  }
}

const GUESSED = " (family guessed from the VM size's name)";

function limitSentence(reason: Extract<Reason, { readonly code: "limit-reached" }>): string {
  const { limit, used, max, left, across, starting } = reason;
  const asked = rangeText(reason.asked, across);
  const what = starting === true ? " to start deallocated nodes" : "";
  const where = across === undefined ? "" : ` (${placesText(undefined, across)})`;
  return `${limitText(limit)}: ${used} of ${max} ${limit.unit} used, ${asked} more needed${what}, ${left} left${where}${failureText(reason)}`;
}

function failureText({ capacityFailureSeconds }: { readonly capacityFailureSeconds?: Seconds }): string {
  return capacityFailureSeconds === undefined
    ? ""
    : `; Azure lacked capacity ${Math.round(capacityFailureSeconds)} s before the last observation`;
}

function requirementText(refusal: Refusal, across: Across | undefined): string {
  if (refusal.code !== "invalid-option" || across?.found === undefined) return renderRefusal(refusal);
  const hint = across.nearest === undefined ? "" : ` (nearest: ${across.nearest})`;
  return `${refusal.what} is ${across.found.join(", ")}, asked is ${optionsText(refusal)}${hint}`;
}

function rangeText(least: number, across: Across | undefined): string {
  return across?.askedMost === undefined ? String(least) : `${least} to ${across.askedMost}`;
}

/** Maximum number of buckets that a sentence lists. Beyond it the sentence gives their number. */
const NAMED_BUCKETS = 3;
const NAMED_ARRAYS = 5;

function placesText(bucket: BucketKey | undefined, across: Across | undefined): string {
  if (across === undefined) return bucket === undefined ? "" : bucketText(bucket);
  const total = across.sizes.reduce((sum, { count }) => sum + count, 0);
  if (total <= NAMED_BUCKETS && across.some.length >= total) return across.some.map(bucketText).join(", ");
  const named = across.sizes.slice(0, NAMED_ARRAYS).map(({ array, count }, i) => {
    const sizes = count === 1 ? "VM size" : "VM sizes";
    return i === 0 ? `${count} ${sizes} of ${array}` : `${count} of ${array}`;
  });
  const more = across.sizes.length - named.length;
  return more > 0 ? `${named.join(", ")} and of ${more} more node arrays` : named.join(", ");
}

function nearText(name: string, known: readonly string[]): string {
  const near = nearest(name, known);
  return near === undefined ? "" : `nearest: ${near}; `;
}
