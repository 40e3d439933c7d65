import type { CreateSet } from "../../domain/intent.ts";
import { canonicalText } from "../../domain/canonical.ts";
import { purposeInDynamic } from "../../domain/bucket.ts";
import type { Kind } from "../bins/node-kinds.ts";
import type { Bins } from "../bins/bins.ts";
import type { Bin } from "../bins/bin.ts";

/** Creates are kept apart in the order in which their nodes were opened, as long as they are so few. */
const MOST_APART = 24;

/**
 * The creates of the plan, in the order in which it opened them. Nodes that need not differ share one (cyclecloud-wire.md A.6); where it
 * costs few requests more, only those that were opened one after the other do: then the next plan meets them in this order, and puts
 * everything where this one did.
 */
export function createsOf(bins: Bins): readonly CreateSet[] {
  const runs: { key: string; create: CreateSet }[] = [];
  const keys = new Map<Kind, string>();
  for (const bin of bins.planned) {
    // It was planned as the steps of a set ran out, and nothing was put there.
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

/** CycleCloud is asked for nodes of an array that it has: what they are for besides, a dynamic array, is only ours to know. */
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
