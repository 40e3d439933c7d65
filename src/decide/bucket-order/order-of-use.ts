import { compareText } from "../../domain/text.ts";
import type { SupplyNode } from "../../domain/world.ts";
import type { Bin } from "../bins/bin.ts";
import type { Bins } from "../bins/bins.ts";

type NodeName = readonly [text: string, number: number];

/**
 * Sorts new bins into the order of use. Nodes that exist come first, by their own order and then by name. Nodes that are coming follow. Deallocated
 * nodes that would be the last of the existing ones come behind these. Nodes that this plan makes come last.
 *
 * scalelib sorts by name alone. But new nodes take the lowest free names. The next plan would use them before older nodes, place jobs elsewhere and
 * need one node more. It would also start a deallocated node while another node is idle.
 */
export function sortByUse(bins: Bins, fresh: readonly Bin[]): readonly Bin[] {
  const there = fresh.flatMap((bin): readonly Turn[] => {
    const node = bins.node(bin);
    return node === undefined || node.starting === true ? [] : [{ bin, node, name: nameOf(node) }];
  });
  there.sort((a, b) => a.node.order - b.node.order || compareNames(a.name, b.name) || a.bin - b.bin);
  const up = there.findLastIndex(({ node }) => node.deallocated !== true) + 1;
  const isComing = (bin: Bin): boolean =>
    bins.origin[bin] === "in-flight" || bins.node(bin)?.starting === true;
  const coming = fresh.filter(isComing).sort((a, b) => bins.tierOf(a) - bins.tierOf(b) || a - b);
  return [
    ...there.slice(0, up).map(({ bin }) => bin),
    ...coming,
    ...there.slice(up).map(({ bin }) => bin),
    ...fresh.filter((bin) => bins.origin[bin] === "planned"),
  ];
}

interface Turn {
  readonly bin: Bin;
  readonly node: SupplyNode;
  readonly name: NodeName;
}

/** Cuts a name into the part before its last "-" and the number behind that. */
function nameOf(node: SupplyNode): NodeName {
  const name = node.properties?.().name;
  const text = typeof name === "string" ? name : node.nodeId;
  const match = /^(.*)-(\d+)$/.exec(text);
  return match === null ? [text, 0] : [match[1] ?? "", Number(match[2])];
}

function compareNames([a, i]: NodeName, [b, j]: NodeName): number {
  return compareText(a, b) || i - j;
}
