import type { AmountUnit } from "./amount-text.ts";
import { amountText, amountTexts } from "./amount-text.ts";
import type { BucketKey } from "./bucket.ts";
import { bucketText } from "./bucket.ts";
import type { ArrayName } from "./ids.ts";
import { nearest } from "./nearest.ts";
import type { Refusal } from "./refusal.ts";
import { optionsText, renderRefusal } from "./refusal.ts";
import { ALLOW_ATTRIBUTES } from "./sender-rules.ts";
import type { Instant } from "./units.ts";
import { isoTime } from "./units.ts";

/** The shared ceilings on new nodes (cyclecloud-wire.md A.3, semantics 1), and our own on what one set or user may hold. */
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
  /** Whose: the array, family, region, set or user; the bucket's text; empty for the cluster. */
  readonly name: string;
  readonly unit: "nodes" | "cores";
  /** Of a request set's cap: several sets share it, and `name` says which. */
  readonly shared?: true;
  /** Of a family quota: no table knows the VM size, so its family is guessed from its name. */
  readonly guessed?: true;
}

/** Why something cannot be had: data with quantities, rendered by {@link renderReason} and nowhere else. All kinds of refusal are here. */
export type Reason = Cause & {
  /** Present: the same is true of several buckets; `bucket` and the numbers are those of the one that lacks least. */
  readonly across?: Across;
};

/** The buckets that one reason stands for. */
export interface Across {
  /** The first few of them, preferred first. */
  readonly some: readonly BucketKey[];
  /** How many VM sizes of which array. */
  readonly sizes: readonly { readonly array: ArrayName; readonly count: number }[];
  /** Where they ask different amounts: the largest. */
  readonly askedMost?: number;
  /** Where each has a value that the job did not choose: the first few of these, and the one most like a choice. */
  readonly found?: readonly string[];
  readonly nearest?: string;
}

type Cause =
  | {
      readonly code: "limit-reached";
      readonly limit: LimitId;
      /** In the limit's unit: in use, at most, left, and asked on top. */
      readonly used: number;
      readonly max: number;
      readonly left: number;
      readonly asked: number;
      /** Where new nodes would count against it. */
      readonly bucket?: BucketKey;
      /** Deallocated nodes were to be started: that takes from the limits what new ones would. */
      readonly starting?: true;
      /** Of a bucket's own limit: Azure lacked capacity there so long before the last look. */
      readonly capacityFailureSeconds?: number;
    }
  | { readonly code: "unknown-array"; readonly array: string; readonly known: readonly string[] }
  | { readonly code: "array-not-managed"; readonly array: string }
  | { readonly code: "no-bucket"; readonly array: string }
  /** Request sets define one dynamic node array differently: as `first` has it, it counts. */
  | {
      readonly code: "dynamic-disputed";
      readonly array: string;
      readonly sets: readonly string[];
      /** Absent in plans of older releases, where none of them counted. */
      readonly first?: string;
    }
  /** The configuration's rules for senders do not let the request set ask for it. */
  | {
      readonly code: "sender-refused";
      readonly set: string;
      /** The key of the rule that would have to allow it. */
      readonly may: "write" | "dynamicArrays" | "attributes";
      /** The first of the attributes. */
      readonly names?: readonly string[];
    }
  /** The cluster itself has a node array of this name. */
  | { readonly code: "dynamic-name-taken"; readonly array: string }
  /** It exists, and no target names it any more: it has its nodes and gets no more. */
  | { readonly code: "dynamic-not-asked-for"; readonly array: string }
  | {
      readonly code: "extends-unknown";
      readonly array: string;
      readonly extends: string;
      readonly known: readonly string[];
    }
  /** It extends a dynamic node array that extends another, and so on; or they extend each other in a circle. */
  | { readonly code: "extends-too-deep"; readonly array: string; readonly most: number }
  /** The cluster has as many dynamic node arrays as it may have. */
  | { readonly code: "dynamic-too-many"; readonly array: string; readonly most: number }
  /** The nodes in a placement group have other attributes, and nodes of one scale set have the same (cyclecloud-wire.md A.6). */
  | { readonly code: "attributes-differ"; readonly bucket: BucketKey }
  | {
      readonly code: "no-such-machine-type";
      readonly array: string;
      readonly machineTypes: readonly string[];
      /** What it offers; absent in plans of older releases. */
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
  /** What a new node there would be does not meet the job's constraints. */
  | { readonly code: "requirement"; readonly bucket: BucketKey; readonly refusal: Refusal }
  | {
      readonly code: "pool-empty";
      readonly pool: string;
      /** Of the pool: asked by all slots that are left, and left. */
      readonly asked: number;
      readonly left: number;
      /** How much there is of it, in use or not. */
      readonly total?: number;
    }
  | { readonly code: "bucket-invalid"; readonly bucket: BucketKey; readonly why: string }
  | {
      readonly code: "backing-off";
      readonly bucket: BucketKey;
      readonly until: Instant;
      readonly message: string;
      /** Azure lacked capacity there so long before the last look. */
      readonly capacityFailureSeconds?: number;
    }
  | {
      readonly code: "group-too-large";
      readonly bucket: BucketKey;
      readonly asked: number;
      readonly max: number;
    }
  | { readonly code: "no-placement-group"; readonly bucket: BucketKey }
  /** The array says that it is not for HPC (`Configuration.autoscale.is_hpc` is false): no placement group is made there for jobs. */
  | { readonly code: "no-new-group"; readonly bucket: BucketKey }
  /** The node array has only the placement group of this bucket, and more groups are asked for. */
  | { readonly code: "only-group"; readonly bucket: BucketKey }
  /** A group lacks nodes: what it has is kept, and no other is made in its place before then. */
  | {
      readonly code: "group-filling";
      readonly bucket: BucketKey;
      readonly nodes: number;
      readonly size: number;
      readonly until: Instant;
    }
  /** A group was not whole in time, in this very plan. */
  | {
      readonly code: "group-given-up";
      readonly bucket: BucketKey;
      readonly nodes: number;
      readonly size: number;
      readonly since: Instant;
    }
  /** The job runs in part, and all of it must be where that is. */
  | { readonly code: "bound-elsewhere"; readonly bucket: BucketKey; readonly home: BucketKey }
  | { readonly code: "spot-not-allowed"; readonly bucket: BucketKey }
  | { readonly code: "not-spot"; readonly bucket: BucketKey }
  /** A gang that may span buckets: all of them together have fewer nodes than it asks for at once. */
  | { readonly code: "span-too-large"; readonly asked: number; readonly possible: number }
  /** So many nodes have others' jobs on them, and the job wants nodes to itself. */
  | { readonly code: "not-exclusive"; readonly nodes: number }
  /** So many jobs of higher rank are unmet that only theirs are worked out; one of them that asks for the same nodes is "set/demand". */
  | { readonly code: "too-many-unmet"; readonly told: number; readonly like?: string }
  /** It costs more than its request set may spend of the planning budget: what it could have is not known. */
  | { readonly code: "left-out" }
  /** To work out why it is unmet costs more than its request set may spend of the planning budget. */
  | { readonly code: "not-explained" }
  | { readonly code: "cluster-not-started"; readonly state: string; readonly targetState: string };

/** Characters of one sentence: what a reason may name is bounded where it is made, and this is what then is left. */
const MOST_CHARACTERS = 2000;

/** One sentence for people, with the numbers; a sentence longer than people read ends with "…". */
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

/** What a limit is called in a sentence. */
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

function failureText({ capacityFailureSeconds }: { readonly capacityFailureSeconds?: number }): string {
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

/** A sentence names so many buckets; of more it says how many they are. */
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
