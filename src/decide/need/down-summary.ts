import type { Node, Snapshot } from "../../domain/cluster.ts";
import type { ArrayName } from "../../domain/ids.ts";
import type { Ledger } from "../../domain/ledger.ts";
import type { DownEnd } from "../../domain/node-verdict.ts";
import type { Plan } from "../../domain/plan.ts";
import type { Policy } from "../../domain/policy.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { secondsBetween } from "../../domain/units.ts";
import type { UnneededCost } from "../../domain/unneeded.ts";
import { costOf } from "./unneeded.ts";
import { withoutAbsent } from "../../domain/without-absent.ts";

/** A node that is down and that a report calls busy is a trouble after this time: some schedulers list a lost job for ever. */
const BUSY_SECONDS: Seconds = 3600;

/** Nodes that are down in the same way. */
export interface DownGroup {
  readonly kind: "nodes-down" | "down-wave" | "down-busy" | "down-kept";
  readonly nodes: readonly Node[];
  /** The first of them is like this since then. */
  readonly since: Instant;
  /** When the first of them ends. Absent: none does by itself. */
  readonly nextEnd?: Instant;
  /** Of a wave: its node array. Absent: no wave, or one of all arrays together. */
  readonly array?: ArrayName;
  /** Absent: no price is known. */
  readonly cost?: UnneededCost;
}

/** Groups the nodes of ours that the plan calls down. A group without nodes is left out. */
export function summariseDown(
  { waves = [] }: Pick<ClusterRecord, "waves">,
  plan: Pick<Plan, "nodes">,
  ledger: Ledger,
  seen: Snapshot,
  policy: Policy,
  now: Instant,
): readonly DownGroup[] {
  const off = downIn(plan, ledger, seen);
  const group = (kind: DownGroup["kind"], members: readonly Shown[], array?: ArrayName) =>
    groupOf(kind, members, array, { seen, policy });
  // The wave of all arrays together has nothing to add to those of single arrays.
  const ofArrays = waves.filter(({ array }) => array !== undefined);
  const isLong = ({ since }: Shown): boolean => secondsBetween(since, now) >= BUSY_SECONDS;
  return [
    ...group("nodes-down", off),
    ...(ofArrays.length === 0 ? waves : ofArrays).flatMap(({ array }) =>
      group(
        "down-wave",
        off.filter(({ node }) => array === undefined || node.array === array),
        array,
      ),
    ),
    ...group(
      "down-busy",
      off.filter((one) => one.end?.held === "busy" && isLong(one)),
    ),
    ...group(
      "down-kept",
      off.filter(({ end }) => end?.held === "never"),
    ),
  ];
}

/** One group, or none without nodes. */
function groupOf(
  kind: DownGroup["kind"],
  members: readonly Shown[],
  array: ArrayName | undefined,
  { seen, policy }: { readonly seen: Snapshot; readonly policy: Policy },
): readonly DownGroup[] {
  const [first] = members.toSorted((a, b) => a.since - b.since);
  if (first === undefined) return [];
  const nodes = members.map(({ node }) => node);
  const cost = costOf(nodes, seen, policy);
  const [nextEnd] = members.flatMap(({ end }) => end?.at ?? []).toSorted((a, b) => a - b);
  return [
    {
      kind,
      nodes,
      since: first.since,
      ...withoutAbsent({ nextEnd, array, cost }),
    },
  ];
}

interface Shown {
  readonly node: Node;
  readonly since: Instant;
  readonly end: DownEnd | undefined;
}

function downIn({ nodes: verdicts }: Pick<Plan, "nodes">, ledger: Ledger, seen: Snapshot): readonly Shown[] {
  return seen.nodes.flatMap((node): readonly Shown[] => {
    const down = ledger.get(node.nodeId)?.down;
    const verdict = verdicts.get(node.nodeId);
    if (down?.how !== "off" || verdict?.kind !== "down" || verdict.end?.held === "not-ours") return [];
    return [{ node, since: down.since, end: verdict.end }];
  });
}
