import type { BucketOffer, SupplyNode } from "../../domain/world.ts";
import type { BucketKey } from "../../domain/bucket.ts";
import { OWN_DEFAULTS } from "../../domain/default-resource.ts";
import { arrayName, machineType } from "../../domain/ids.ts";
import type { Resources, ResourceValue } from "../../domain/resources.ts";
import type { Policy } from "../../domain/policy.ts";
import { schedulerHostId } from "../../domain/hosts.ts";
import { isLess } from "../../domain/size.ts";
import { compileDefaults } from "../constraints/default-resources.ts";
import type { AmountValue, Overlaid } from "./host-view.ts";
import { isAmount, overlayLeft, overlayTotals, viewHost } from "./host-view.ts";
import type { ReportedHost } from "./reported-hosts.ts";
import type { Reports } from "./scheduler-only.ts";
import { bucketIdWithoutGroup } from "../../domain/bucket.ts";

/** New nodes of a bucket count as smaller than computed if at least this many of its nodes are reported smaller. */
const WITNESSES = 2;

type FromReport = Pick<SupplyNode, "resources" | "left" | "occupied">;

/** The effect of reports on capacity: on nodes, on hosts that only the scheduler knows, and on new nodes. */
export class ReportedSupply {
  readonly #reports: Reports | undefined;
  /** Nodes with equal totals share one object, so that the allocator sees one kind of node. */
  readonly #totals = new Map<Resources, Map<string, Resources>>();
  /** By bucket and resource, the largest reported amount of a node there, and the number of reported nodes. */
  readonly #seen = new Map<string, Map<string, { most: AmountValue; nodes: number }>>();

  constructor(reports: Reports | undefined) {
    this.#reports = reports;
  }

  /** A node by its report, and without it. Undefined if no report in force has it. */
  of({ nodeId, bucket, resources }: SupplyNode): FromReport | undefined {
    const host = this.#reports?.nodes.get(nodeId);
    if (host === undefined) return undefined;
    const overlaid = this.#overlay(resources, host);
    this.#note(bucket, host, overlaid);
    return isOccupied(host) ? { ...overlaid, occupied: true } : overlaid;
  }

  /**
   * The hosts that only the scheduler knows. Equal hosts share one bucket, like nodes of one VM size. With the preference of scalelib each host
   * has its own bucket.
   */
  hosts({ preference }: Pick<Policy, "preference">): readonly SupplyNode[] {
    const hosts = this.#reports?.others ?? [];
    if (hosts.length === 0) return [];
    const nothing = viewHost("", NO_DEFAULTS, 0).available;
    const buckets = new Map<Resources, Map<string, BucketKey>>();
    let made = 0;
    const names = Map.groupBy(hosts, ({ hostname }) => hostname);
    return hosts.map((host): SupplyNode => {
      const { hostname } = host;
      const overlaid = this.#overlay(nothing, host);
      const onlyFor = [...new Set(host.by.map(({ set }) => set))].sort();
      const alike = buckets.get(overlaid.resources) ?? new Map<string, BucketKey>();
      buckets.set(overlaid.resources, alike);
      const sets = JSON.stringify(preference === "bucket-order" ? [hostname, onlyFor] : onlyFor);
      const bucket = alike.get(sets) ?? bucketOfHosts((made += 1));
      alike.set(sets, bucket);
      return {
        nodeId: schedulerHostId(hostname, names.get(hostname)?.length === 1 ? undefined : onlyFor[0]),
        hostname,
        bucket,
        purpose: { kind: "array" },
        ...overlaid,
        ...(isOccupied(host) ? { occupied: true } : {}),
        onlyFor,
        properties: () => viewHost(hostname, NO_DEFAULTS, 0).properties,
        cores: 0,
        order: 0,
        ready: true,
      };
    });
  }

  /**
   * The bucket with what new nodes there really offer. If two of its nodes are reported with less of a resource than computed, new nodes have no
   * more than the best of them. Otherwise the nodes of each plan could be too small for the next one, which would create more.
   */
  believed(offer: BucketOffer): BucketOffer {
    const seen = this.#seen.get(bucketIdWithoutGroup(offer.bucket));
    if (seen === undefined) return offer;
    const known = new Map<Resources, Resources>();
    const lower = (resources: Resources): Resources => {
      const lowered = known.get(resources) ?? lowerTo(resources, seen);
      known.set(resources, lowered);
      return lowered;
    };
    const { inGroup } = offer;
    return {
      ...offer,
      resources: lower(offer.resources),
      ...(inGroup === undefined
        ? {}
        : {
            inGroup: (group) => {
              const made = inGroup(group);
              return { ...made, resources: lower(made.resources) };
            },
          }),
    };
  }

  #overlay(computed: Resources, { resources, available }: ReportedHost): Overlaid {
    const totals = this.#share(computed, resources, () => overlayTotals(computed, resources));
    const overlaid = overlayLeft(totals, available);
    if (overlaid.resources === totals) return overlaid;
    // Reported amounts left are often equal for many hosts.
    return { ...overlaid, resources: this.#share(totals, overlaid.resources, () => overlaid.resources) };
  }

  #share(base: Resources, above: Resources, make: () => Resources): Resources {
    const ofBase = this.#totals.get(base) ?? new Map<string, Resources>();
    this.#totals.set(base, ofBase);
    const key = JSON.stringify(above);
    const resources = ofBase.get(key) ?? (key === "{}" ? base : make());
    ofBase.set(key, resources);
    return resources;
  }

  /** Notes a reported node. What an idle host has left is what it has. */
  #note(bucket: BucketKey, host: ReportedHost, { resources, left = {} }: Overlaid): void {
    const id = bucketIdWithoutGroup(bucket);
    for (const name of Object.keys(host.resources)) this.#noteTotal(id, name, resources[name]);
    if (isOccupied(host)) return;
    for (const name of Object.keys(left))
      if (!Object.hasOwn(host.resources, name)) this.#noteTotal(id, name, left[name]);
  }

  #noteTotal(id: string, name: string, total: ResourceValue | undefined): void {
    if (!isAmount(total)) return;
    const ofBucket = this.#seen.get(id) ?? new Map<string, { most: AmountValue; nodes: number }>();
    this.#seen.set(id, ofBucket);
    const known = ofBucket.get(name);
    const most = known === undefined || isLess(known.most, total) ? total : known.most;
    ofBucket.set(name, { most, nodes: (known?.nodes ?? 0) + 1 });
  }
}

const NO_DEFAULTS = compileDefaults([], OWN_DEFAULTS);

const isOccupied = ({ by }: ReportedHost): boolean => by.some(({ jobs }) => jobs.length > 0);

/** A bucket that no array of CycleCloud has: names with a slash are refused. */
function bucketOfHosts(number: number): BucketKey {
  return { array: arrayName(`scheduler-hosts/${number}`), machineType: machineType("unknown") };
}

function lowerTo(
  resources: Resources,
  seen: ReadonlyMap<string, { readonly most: AmountValue; readonly nodes: number }>,
): Resources {
  const lowered: Record<string, ResourceValue> = { ...resources };
  seen.forEach(({ most, nodes }, name) => {
    const computed = resources[name];
    if (nodes >= WITNESSES && isAmount(computed) && isLess(most, computed)) lowered[name] = most;
  });
  return lowered;
}
