import type { Cluster } from "../client/answers.ts";
import { barOf } from "./bar.ts";
import { h, section } from "./dom.ts";
import type { Column } from "./table.ts";
import { Table } from "./table.ts";
import type { View } from "./view.ts";
import { fromNow, moneyText } from "./words.ts";

type BucketShown = Cluster["buckets"][number];
type LimitShown = BucketShown["limits"][number];

const BUCKETS: readonly Column<BucketShown>[] = [
  { head: "Node array", cell: ({ nodearray }) => nodearray },
  { head: "Size", cell: ({ machineType, spot }) => (spot ? `${machineType} (spot)` : machineType) },
  { head: "Group", cell: ({ placementGroup }) => placementGroup },
  { head: "vCPUs", cell: ({ vcpus }) => vcpus },
  { head: "GiB", cell: ({ memoryGib }) => memoryGib },
  { head: "GPUs", cell: ({ gpus }) => gpus },
  {
    head: "An hour",
    number: true,
    cell: ({ price }, { currency }) => (price === undefined ? undefined : moneyText(price, currency)),
    order: ({ price }) => price,
  },
  { head: "Nodes", cell: ({ active }) => active },
  { head: "Room", cell: ({ available }) => available },
  { head: "Bound by", cell: boundBy },
  { head: "Rests", cell: ({ backoff }, { now }) => restText(backoff, now) },
];

const LIMITS: readonly Column<LimitShown>[] = [
  { head: "Limit", cell: ({ limit, guessed }) => (guessed === true ? `${limit} (guessed)` : limit) },
  { head: "Used", cell: ({ used }) => used },
  { head: "Of", cell: ({ max }) => max },
  { head: "Left", cell: ({ left }) => left },
  { head: "In", cell: ({ unit }) => unit },
  {
    head: "Share",
    cell: ({ used, max }) => barOf({ busy: used }, { busy: "used" }, max),
    order: ({ used, max }) => used / Math.max(1, max),
  },
];

/** Where nodes can be had, what bounds them, and what rests. */
export function createCapacity(): View {
  const buckets = new Table<BucketShown>("Where nodes can be had", BUCKETS, {
    none: "None are known: no observation yet, or no node array is autoscaled.",
    text: ({ nodearray, machineType, placementGroup }) => [nodearray, machineType, placementGroup].join(" "),
  });
  const limits = new Table<LimitShown>("Limits and quotas", LIMITS, {
    none: "None are known.",
    text: ({ limit }) => limit,
  });
  return {
    element: h(
      "div",
      "",
      section("Where nodes can be had", buckets.element),
      section("Limits and quotas", limits.element),
    ),
    async refresh(api, { cluster }) {
      const state = await api.cluster(cluster, true);
      const seen = { cluster, now: api.now, currency: state.choice.prices?.currency };
      buckets.show(state.buckets, seen);
      limits.show(distinct(state.buckets), seen);
    },
  };
}

/** What keeps the bucket from having more nodes than it has room for. */
function boundBy({ closed, available, vcpus, limits }: BucketShown): string | undefined {
  const nodes = ({ left, unit }: LimitShown) => Math.floor(unit === "cores" ? left / vcpus : left);
  return closed ?? limits.find((limit) => nodes(limit) === available)?.limit;
}

function restText(backoff: BucketShown["backoff"], now: string): string | undefined {
  if (backoff === undefined) return undefined;
  return `${backoff.cause.replaceAll("-", " ")}, ends ${fromNow(backoff.until, now)}: ${backoff.message}`;
}

/** Each limit once. Those of one name with other numbers are of other regions. */
function distinct(buckets: readonly BucketShown[]): readonly LimitShown[] {
  const all = buckets.flatMap(({ limits }) => limits);
  const byText = new Map(all.map((one) => [[one.limit, one.unit, one.used, one.max].join("\n"), one]));
  return [...byText.values()];
}
