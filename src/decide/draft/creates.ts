import type { CreateSet } from "../../domain/intent.ts";
import { canonicalText } from "../../domain/digest.ts";
import { purposeInDynamic } from "../../domain/bucket.ts";
import type { Kind } from "../bins/node-kinds.ts";
import type { Bins } from "../bins/bins.ts";
import type { Bin } from "../bins/bin-columns.ts";

/** Up to this number of creates, their order is the order in which the plan opened the nodes. */
const MOST_APART = 24;

/**
 * The creates of the plan, in the order in which it opened them. Identical nodes share one create (cyclecloud-wire.md A.6). If that needs
 * few more requests, only identical nodes that were opened in sequence share one. Then the next plan finds the nodes in the same order, and
 * places everything where this plan did.
 */
export function createsOf(bins: Bins): readonly CreateSet[] {
  const runs: { key: string; create: CreateSet }[] = [];
  const keys = new Map<Kind, string>();
  for (const bin of bins.planned) {
    // It was planned when the steps of a set ran out, and nothing was placed on it.
    if (!bins.isClaimed(bin)) continue;
    const create = createOf(bins, bin);
    const isPlain = create.attributes === undefined && create.purpose.kind === "array";
    const kind = bins.kindOf(bin);
    const key =
      (isPlain ? keys.get(kind) : undefined) ??
      canonicalText([create.bucket, create.purpose, create.attributes]);
    if (isPlain) keys.set(kind, key);
    const last = runs.at(-1);
    if (last?.key === key) last.create = addNodes(last.create, create.count);
    else runs.push({ key, create });
  }
  if (runs.length <= MOST_APART) return runs.map(({ create }) => create);
  const creates = new Map<string, CreateSet>();
  for (const { key, create } of runs) {
    const known = creates.get(key);
    creates.set(key, known === undefined ? create : addNodes(known, create.count));
  }
  return [...creates.values()];
}

/** The create for a bin. CycleCloud knows only its own node arrays, so a dynamic node array is only in the purpose. */
function createOf(bins: Bins, bin: Bin): CreateSet {
  const attributes = bins.attributes.get(bin);
  const { bucket, offer } = bins.placeOfBin(bin);
  const parent = bins.world.buckets[offer]?.parent;
  const purpose = bins.purpose[bin] ?? { kind: "array" };
  return {
    bucket: parent === undefined ? bucket : { ...bucket, array: parent.bucket.array },
    count: bins.count[bin] ?? 0,
    purpose: parent === undefined ? purpose : purposeInDynamic(purpose, bucket.array),
    ...(attributes === undefined ? {} : { attributes }),
  };
}

function addNodes(create: CreateSet, count: number): CreateSet {
  return { ...create, count: create.count + count };
}
