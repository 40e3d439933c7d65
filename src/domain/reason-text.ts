import { amountText, amountTexts, unitName } from "./amount-text.ts";
import type { BucketKey } from "./bucket.ts";
import { bucketText } from "./bucket.ts";
import { limitText } from "./limit.ts";
import { nearest } from "./nearest.ts";
import type { Across, Reason } from "./reason.ts";
import type { Refusal } from "./refusal.ts";
import { optionsText, renderRefusal } from "./refusal.ts";
import { ALLOW_ATTRIBUTES } from "./sender-rules.ts";
import { showText } from "./shown.ts";
import type { Seconds } from "./units.ts";
import { isoTime } from "./units.ts";

/** Maximum length of one sentence, in characters. A second bound: the names in a reason are bounded where it is made. */
const MOST_CHARACTERS = 2000;

/** One sentence for users, with the numbers, as {@link showText} shows it. A sentence that is too long is cut and ends with "…". */
export function renderReason(reason: Reason): string {
  const text = showText(sentenceOf(reason));
  return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text;
}

type Code = Reason["code"];
type ReasonOf<C extends Code> = Extract<Reason, { readonly code: C }>;

/** Every reason is one of these. In this form the compiler knows that the sentence found by a reason's code takes that reason. */
type Coded<C extends Code> = { readonly [K in C]: ReasonOf<K> & { readonly code: K } }[C];

function sentenceOf<C extends Code>(reason: Coded<C>): string {
  // A newer release may have stored a code that this release does not know.
  return Object.hasOwn(SENTENCES, reason.code) ? SENTENCES[reason.code](reason) : reason.code;
}

const placesOf = ({ bucket, across }: { readonly bucket?: BucketKey; readonly across?: Across }): string =>
  placesText(bucket, across);

/** One sentence for each kind of reason. */
const SENTENCES: { readonly [C in Code]: (reason: ReasonOf<C>) => string } = {
  "limit-reached": limitSentence,
  "unknown-array": (reason) =>
    generatedText(reason) ??
    `node array "${reason.array}" does not exist in the cluster (${nearText(reason.array, reason.known)}known: ${reason.known.join(", ") || "none"})`,
  "array-not-managed": (reason) =>
    `node array "${reason.array}" is not autoscaled (Configuration.autoscale.enabled is false, or it is not in the configured nodearrays)`,
  "no-bucket": (reason) => `node array "${reason.array}" has no VM size that CycleCloud's status offers`,
  "dynamic-disputed": disputeText,
  "sender-refused": refusedSenderText,
  "dynamic-name-taken": (reason) =>
    `node array "${reason.array}" is one of the cluster's own: a dynamic node array needs a name of its own`,
  "dynamic-not-asked-for": (reason) =>
    `no request set asks for dynamic node array "${reason.array}" any more: it keeps its nodes and gets no new ones`,
  "extends-unknown": (reason) =>
    `dynamic node array "${reason.array}" extends "${reason.extends}", which the cluster does not have (${nearText(reason.extends, reason.known)}known: ${reason.known.join(", ") || "none"})`,
  "extends-too-deep": (reason) =>
    `dynamic node array "${reason.array}" extends more than ${reason.most} dynamic node arrays in a row, or itself through others`,
  "dynamic-too-many": (reason) =>
    `dynamic node array "${reason.array}" is one too many: a cluster has at most ${reason.most}`,
  "attributes-differ": (reason) =>
    `${placesOf(reason)}: the nodes in its placement group ${reason.bucket.placementGroup ?? ""} have other attributes, and those of one scale set must be the same`,
  "no-such-machine-type": (reason) => {
    const near = reason.machineTypes.map((type) => nearest(type, reason.offered));
    const found = [...new Set(near.filter((name) => name !== undefined))];
    const hint = found.length === 0 ? "" : ` (nearest: ${found.join(", ")})`;
    const more = reason.more === undefined ? "" : ` and ${reason.more} more`;
    return `node array "${reason.array}" offers none of ${reason.machineTypes.join(", ")}${more}${hint}`;
  },
  "does-not-fit": (reason) => {
    const [asked, offered] = amountTexts(reason.asked, reason.offered, reason.unit);
    const most = reason.across === undefined ? "" : "at most ";
    const counts =
      reason.plainIn === undefined ? "" : `; a plain number counts in ${unitName(reason.plainIn)}`;
    return `${placesOf(reason)}: ${reason.resource} ${asked} asked of one node, ${most}${offered} offered${counts}`;
  },
  "not-together": togetherText,
  requirement: (reason) => `${placesOf(reason)}: ${requirementText(reason.refusal, reason.across)}`,
  "pool-empty": (reason) => {
    const { total, left } = reason;
    const used = total === undefined ? "" : `${amountText(total - left)} of ${amountText(total)} used, `;
    return `pool ${reason.pool}: ${used}${amountText(reason.asked)} more needed, ${amountText(left)} left`;
  },
  "unknown-pool": ({ pool, known, asked, nearest: near }) =>
    `no request set names a pool ${pool} (${near === undefined ? "" : `nearest: ${near}; `}known: ${known.join(", ") || "none"}): ${amountText(asked)} of it needed; send it with "pools"`,
  "bucket-invalid": (reason) => `${placesOf(reason)}: CycleCloud offers no new nodes here (${reason.why})`,
  "backing-off": (reason) => {
    const or = reason.across === undefined ? "" : " or longer";
    return `${placesOf(reason)}: pausing until ${isoTime(reason.until)}${or} after: ${reason.message}${failureText(reason)}`;
  },
  "group-too-large": (reason) => {
    const asked = rangeText(reason.asked, reason.across);
    return `${placesOf(reason)}: ${asked} nodes in one placement group asked, at most ${reason.max} possible`;
  },
  "only-named": (reason) =>
    `${placesOf(reason)}: the configuration keeps it for nodes that are asked for by name (named)`,
  "no-placement-group": (reason) => {
    const which = reason.across === undefined ? "this VM size has" : "these VM sizes have";
    return `${placesOf(reason)}: ${which} no placement groups here`;
  },
  "no-new-group": (reason) => {
    const who = reason.across === undefined ? `node array ${reason.bucket.array} makes` : "they make";
    return `${placesOf(reason)}: ${who} no placement groups (Configuration.autoscale.is_hpc is false)`;
  },
  "only-group": (reason) => `${placesOf(reason)}: the node array has no other placement group`,
  "group-filling": (reason) =>
    `${placesOf(reason)}: has ${reason.nodes} of ${reason.size} nodes of a group, and is being filled until ${isoTime(reason.until)}`,
  "group-given-up": (reason) =>
    `${placesOf(reason)}: had only ${reason.nodes} of ${reason.size} nodes of a group, incomplete since ${isoTime(reason.since)}`,
  "bound-elsewhere": (reason) =>
    `${placesOf(reason)}: the job runs in ${bucketText(reason.home)} and must be there as a whole`,
  "spot-not-allowed": (reason) =>
    `${placesOf(reason)}: nodes may be evicted (spot), which the job does not allow`,
  "not-spot": (reason) => `${placesOf(reason)}: nodes are not spot, and the job asks for spot only`,
  "span-too-large": (reason) =>
    `${reason.asked} nodes asked for at once, ${reason.possible} possible in all buckets together`,
  "not-exclusive": (reason) =>
    `${reason.nodes === 1 ? "1 node has" : `${reason.nodes} nodes have`} other jobs, and the job wants nodes to itself`,
  "too-many-unmet": (reason) => {
    const like =
      reason.like === undefined ? "" : `; ${reason.like} is one of them, and asks for the same nodes`;
    return `reasons are worked out for the ${reason.told} unmet jobs of highest rank${like}`;
  },
  "name-over": ({ name, state, at, why }) => `${name} ${state} at ${isoTime(at)}: ${why}`,
  "name-waits": ({ name, status }) => `${name} waits until its old node has gone, which is ${status}`,
  "name-earlier": ({ name }) =>
    `${name} has a node of an earlier resume: it goes when its scheduler reports it closed without a job, and ${name} is then made anew`,
  "name-held": ({ names, count }) =>
    `${names.join(", ")}${count > names.length ? ` and ${count - names.length} more` : ""}: a request set under another rule of the configuration (senders) holds the name`,
  "name-elsewhere": ({ name, bucket }) => `${name} exists, in ${bucketText(bucket)}`,
  "left-out": ({ by }) =>
    by === "configuration"
      ? "left out of this plan: default_resources of the configuration cost more than half of the planning budget"
      : "left out of this plan: its request set costs more than its share of the planning budget",
  "not-explained": () =>
    "not explained: finding the reason costs more than its request set's share of the planning budget",
  "cluster-not-started": (reason) =>
    `the cluster is not started (state ${reason.state}, target state ${reason.targetState})`,
};

/** "no bucket has 8 ncpus and 1 ngpus together: htc/F8 has 8 ncpus and 0 ngpus, gpu/NC6 6 and 1". */
function togetherText({ asked, buckets, each, alternatives }: ReasonOf<"not-together">): string {
  const phrase = (what: string, value: string): string =>
    what.startsWith("node.") ? `${what} ${value}` : `${value} ${what}`;
  const wishes = asked.map(({ what, value }) => phrase(what, value));
  const has = buckets.map(({ bucket, has: values }, i) => {
    const all = values.map((value, at) => phrase(asked[at]?.what ?? "", value));
    return i === 0
      ? `${bucketText(bucket)} has ${all.join(" and ")}`
      : `${bucketText(bucket)} ${values.join(" and ")}`;
  });
  const together = asked.length < 2 || each === true ? "" : " together";
  const which = alternatives === true ? " (the alternative of the job that comes nearest)" : "";
  return `no bucket has ${wishes.join(each === true ? " or " : " and ")}${together}${which}: ${has.join(", ")}`;
}

function disputeText({ array, sets, first }: ReasonOf<"dynamic-disputed">): string {
  const differ = `dynamic node array "${array}" is defined differently by the request sets ${sets.join(", ")}`;
  return `${differ}: it belongs to ${first}, which defined it first, until that set lapses or leaves it out`;
}

function refusedSenderText({ set, may, names = [] }: ReasonOf<"sender-refused">): string {
  const by = `the configuration (senders) does not let request set "${set}"`;
  switch (may) {
    case "write":
      return `${by} ask for anything`;
    case "dynamicArrays":
      return `${by} define dynamic node arrays`;
    case "nodeNames":
      return `${by} name nodes of this node array`;
    case "attributes":
      return `${by} set ${names.join(", ")}: allow it in ${ALLOW_ATTRIBUTES}`;
  }
}

function limitSentence(reason: ReasonOf<"limit-reached">): string {
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
  return across?.askedMost === undefined ? String(least) : `at least ${least}`;
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

/** Demand may not name the array of all groups of one array and size, docs/demand.md "Groups". */
function generatedText({ array, known }: ReasonOf<"unknown-array">): string | undefined {
  const [, own = "", size = "", nodes] = /^(.+):([1-9]\d*)(n?)$/.exec(array) ?? [];
  if (!known.includes(own)) return undefined;
  const key = nodes === "n" ? "GroupInstanceCount" : "GroupCoreCount";
  return `"${array}" is made of groups: ask for node array "${own}" with TargetGroupCount and "${key}": ${size} (a list, as for update)`;
}

function nearText(name: string, known: readonly string[]): string {
  const near = nearest(name, known);
  return near === undefined ? "" : `nearest: ${near}; `;
}
