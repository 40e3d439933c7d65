import type { Bodies } from "../../domain/bodies.ts";
import { canonicalText } from "../../domain/digest.ts";
import type { GroupDemand, RankedDemand, TargetDemand } from "../../domain/demand.ts";
import type { DynamicArray } from "../../domain/dynamic-array.ts";
import type { ArrayName, SetName } from "../../domain/ids.ts";
import type { DemandOutcome } from "../../domain/plan.ts";
import { askedBy } from "../../domain/plan.ts";
import type { Instant } from "../../domain/units.ts";
import type { Policy } from "../../domain/policy.ts";
import type { Reason } from "../../domain/reason.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { SetEntries } from "../../domain/request-sets.ts";
import { NO_SENDER_RULES, type SenderRules } from "../../domain/sender-rules.ts";
import { compareText } from "../../domain/text.ts";
import { refusedAttributes } from "./allowed-attributes.ts";
import type { Unread } from "./demands-in-force.ts";
import { demandsInForce } from "./demands-in-force.ts";
import { restingOf } from "./shares.ts";
import { attributesOf, freeKeysOf, mayDefineArray, mayNameNodes, mayWrite, ruleOf } from "./sender-rule.ts";
import { lineageOf } from "../../domain/dynamic-array.ts";

/** The demand in force, divided by what its senders may ask for. */
export interface Admitted {
  /** Demands that count. Their priorities are lowered to the maximum of their senders. */
  readonly demands: readonly RankedDemand[];
  /** Demands that do not count, and why. */
  readonly refused: readonly RefusedDemand[];
  /** By defined dynamic node array, the set whose definition counts. */
  readonly definers: ReadonlyMap<ArrayName, SetName>;
  readonly unread: Unread;
}

/** A demand that does not count, and why. */
interface RefusedDemand extends RankedDemand {
  readonly reason: Reason;
}

/**
 * Applies the configuration's rules for senders to the demand in force. Demand that was accepted under an earlier configuration is checked
 * too. The definition of a dynamic node array is that of the set that defined it first, until that set lapses or
 * omits it. Different definitions of other sets are refused (docs/decisions.md, "Pools and dynamic arrays belong to the set that named them
 * first"). What counts at a moment: see {@link demandsInForce}. `reads`: all of it, or what a plan reads: few jobs of senders that rest.
 */
export function admitDemands(
  record: ClusterRecord,
  bodies: Bodies,
  policy: Policy,
  now: Instant,
  reads: "all" | "plan",
): Admitted {
  const { senders = NO_SENDER_RULES } = policy;
  const dear = reads === "plan" ? record.dear : undefined;
  const resting = dear && restingOf(dear, policy);
  const refused: RefusedDemand[] = [];
  const allowed: RankedDemand[] = [];
  // Most demands are of the same set as the one before.
  let rights: Rights | undefined;
  const { read, unread } = demandsInForce(record, bodies, { now, resting });
  for (const ranked of read) {
    if (rights?.set !== ranked.set) rights = rightsOf(ranked.set, senders);
    const reason = whyRefused(ranked, rights, senders);
    if (reason === undefined) allowed.push(lowered(ranked, rights));
    else refused.push({ ...ranked, reason });
  }
  const existing = new Map((record.dynamicArrays ?? []).map((array) => [array.name, array]));
  const definers = findDefiners(allowed, existing, record.sets);
  const isNarrowed = senders.some(({ configuration }) => configuration !== undefined);
  if (definers.size === 0 && existing.size === 0 && !isNarrowed)
    return { demands: allowed, refused, definers: NOBODY, unread };
  const demands = allowed.filter((ranked) => {
    const reason = whyNotDefined(ranked, definers, existing, senders);
    if (reason !== undefined) refused.push({ ...ranked, reason });
    return reason === undefined;
  });
  const names = new Map([...definers].map(([array, { set }]) => [array, set]));
  return { demands, refused, definers: names, unread };
}

const NOBODY: Admitted["definers"] = new Map();

/** The outcome of a refused demand in a plan. */
export function refusedOutcome({ set, demand, reason }: RefusedDemand): DemandOutcome {
  const { id, kind } = demand;
  return { set, id, kind, ...askedBy(demand), placed: 0, pending: 0, reasons: [reason] };
}

/** What the rule of a set says of all its demands. */
interface Rights {
  readonly set: SetName;
  readonly mayWrite: boolean;
  readonly maxPriority: number;
}

function rightsOf(set: SetName, senders: SenderRules): Rights {
  const { maxPriority = Number.POSITIVE_INFINITY } = ruleOf(senders, set) ?? {};
  return { set, mayWrite: mayWrite(senders, set), maxPriority };
}

function whyRefused({ set, demand }: RankedDemand, rights: Rights, senders: SenderRules): Reason | undefined {
  if (!rights.mayWrite) return { code: "sender-refused", set, may: "write" };
  if (demand.kind === "job") return undefined;
  if (demand.extends !== undefined && !mayDefineArray(senders, set, demand.array))
    return { code: "sender-refused", set, may: "dynamicArrays" };
  if (demand.kind === "target" && demand.named !== undefined && !mayNameNodes(senders, set, demand.array))
    return { code: "sender-refused", set, may: "nodeNames" };
  return whyAttributes(demand.attributes, set, senders);
}

/** `lineage`: the array and those that it extends. Without it any key of `Configuration` counts as free. */
function whyAttributes(
  attributes: TargetDemand["attributes"],
  set: SetName,
  senders: SenderRules,
  lineage?: readonly ArrayName[],
): Reason | undefined {
  const keys = lineage === undefined ? undefined : freeKeysOf(senders, set, lineage);
  const refused = refusedAttributes(attributes, attributesOf(senders, set), keys);
  if (refused.length === 0) return undefined;
  const names = refused.slice(0, NAMED).map(({ path }) => path.slice(0, LONGEST_NAME).toWellFormed());
  return { code: "sender-refused", set, may: "attributes", names };
}

/** Maximum number of attributes that a reason names. */
const NAMED = 5;
/** Maximum number of characters of each. */
const LONGEST_NAME = 100;

function lowered(ranked: RankedDemand, { maxPriority }: Rights): RankedDemand {
  if (ranked.demand.priority <= maxPriority) return ranked;
  return { set: ranked.set, demand: { ...ranked.demand, priority: maxPriority } };
}

// ---------------------------------------------------------------- dynamic node arrays

interface Definition {
  readonly set: SetName;
  readonly extends: ArrayName;
  readonly text: string;
}

type Existing = ReadonlyMap<ArrayName, DynamicArray>;
/** By dynamic array, the definition that counts. */
type Definitions = ReadonlyMap<ArrayName, Definition>;

function findDefiners(demands: readonly RankedDemand[], existing: Existing, sets: SetEntries): Definitions {
  const found = new Map<ArrayName, Map<SetName, Definition>>();
  for (const { set, demand } of demands) {
    if (demand.kind === "job" || demand.extends === undefined) continue;
    const ofArray = found.get(demand.array) ?? new Map<SetName, Definition>();
    found.set(demand.array, ofArray);
    // A message has one definition of it.
    if (!ofArray.has(set)) ofArray.set(set, { set, extends: demand.extends, text: definitionText(demand) });
  }
  const definers = new Map<ArrayName, Definition>();
  for (const [array, bySet] of found) {
    const first = firstOf([...bySet.values()], existing.get(array), sets);
    if (first !== undefined) definers.set(array, first);
  }
  return definers;
}

/**
 * The definition that counts: that of the set that the record names, else one that equals the record's, else the one whose message came
 * first.
 */
function firstOf(
  definitions: readonly Definition[],
  existing: DynamicArray | undefined,
  sets: SetEntries,
): Definition | undefined {
  if (definitions.length === 1) return definitions[0];
  const named = definitions.find(({ set }) => set === existing?.by);
  if (named !== undefined) return named;
  const since = ({ set }: Definition): number => sets.get(set)?.acceptedAt ?? 0;
  const inOrder = definitions.toSorted((a, b) => since(a) - since(b) || compareText(a.set, b.set));
  const asRecorded = existing === undefined ? undefined : definitionText(existing);
  return inOrder.find(({ text }) => text === asRecorded) ?? inOrder[0];
}

/** A text that is equal for equal definitions of a dynamic node array. */
export const definitionText = (
  one: Pick<TargetDemand | GroupDemand | DynamicArray, "extends" | "machineTypes" | "attributes">,
): string => canonicalText([one.extends, one.machineTypes, one.attributes]);

function whyNotDefined(
  { set, demand }: RankedDemand,
  definers: Definitions,
  existing: Existing,
  senders: SenderRules,
): Reason | undefined {
  if (demand.kind === "job") return undefined;
  const { array } = demand;
  const first = definers.get(array);
  if (demand.extends !== undefined && first !== undefined && first.text !== definitionText(demand))
    return { code: "dynamic-disputed", array, sets: [first.set, set], first: first.set };
  const lineage = lineageOf(array, (at) => definers.get(at)?.extends ?? existing.get(at)?.extends);
  return (
    whyAttributes(demand.attributes, set, senders, lineage) ??
    whyInherited(lineage, set, definers, existing, senders)
  );
}

/**
 * Why a demand is refused that uses stored definitions. The record keeps definitions of sets that no longer ask for them, and other sets may
 * use or extend these. Attributes that the defining set may not set are refused for them, too.
 */
function whyInherited(
  lineage: readonly ArrayName[],
  asker: SetName,
  definers: Definitions,
  existing: Existing,
  senders: SenderRules,
): Reason | undefined {
  for (const [depth, array] of lineage.entries()) {
    const known = definers.has(array) ? undefined : existing.get(array);
    const reason =
      known === undefined
        ? undefined
        : whyAttributes(known.attributes, known.by ?? asker, senders, lineage.slice(depth));
    if (reason !== undefined) return reason;
  }
  return undefined;
}
