import type { NodeProperties, NodeView } from "../../domain/node-view.ts";
import type { Resources, ResourceValue } from "../../domain/resources.ts";
import { convertSize, isLess, isSize } from "../../domain/size.ts";
import type { Defaults } from "../constraints/default-resources.ts";
import { applyDefaults } from "../constraints/default-resources.ts";
import { NO_TIMES } from "./cluster-buckets.ts";

/** The resources of a host in the report of its scheduler: totals, and what is left of them. */
export interface HostAmounts {
  readonly resources: Resources;
  readonly available: Resources;
}

/** The resources of a host with its report over computed ones (scalelib.md 13). */
export interface Overlaid {
  /** Its totals. */
  readonly resources: Resources;
  /** What is left of each reported resource. Everything that runs there is subtracted already. Absent: the report does not say. */
  readonly left?: Resources;
}

/**
 * The totals of a host: computed ones, and over them, name by name, those that its scheduler reports. An amount keeps its unit: a plain
 * number for a size is in that unit. A value that cannot be counted does not replace an amount, because then no job would fit. A negative
 * amount counts as 0.
 */
export function overlayTotals(computed: Resources, reported: Resources): Resources {
  const totals: Record<string, ResourceValue> = { ...computed };
  for (const [name, value] of Object.entries(reported)) totals[name] = replace(totals[name], value);
  return totals;
}

/** What is left of these totals. The totals stay the same object, except if the report has a larger amount. */
export function overlayLeft(totals: Resources, available: Resources): Overlaid {
  let more: Record<string, ResourceValue> | undefined;
  let left: Record<string, ResourceValue> | undefined;
  for (const [name, value] of Object.entries(available)) {
    const total = totals[name];
    const now = replace(total, value);
    const isCounted = isAmount(value) && isAmount(now);
    if (isCounted ? !isAmount(total) || isLess(total, now) : now !== total)
      (more ??= { ...totals })[name] = now;
    if (isCounted) (left ??= {})[name] = now;
  }
  const resources = more ?? totals;
  return left === undefined ? { resources } : { resources, left };
}

/** These totals with nothing left. */
export function nothingLeft(totals: Resources): Resources {
  const left: Record<string, ResourceValue> = {};
  for (const [name, value] of Object.entries(totals))
    if (isAmount(value)) left[name] = isSize(value) ? { ...value, amount: 0 } : 0;
  return left;
}

/** A value that can be counted. */
export type AmountValue = Exclude<ResourceValue, string | boolean | null>;

/** Whether the value can be counted. */
export function isAmount(value: ResourceValue | undefined): value is AmountValue {
  return typeof value === "number" || isSize(value);
}

function replace(before: ResourceValue | undefined, value: ResourceValue): ResourceValue {
  if (!isAmount(before)) return isAmount(value) ? notBelowZero(value) : value;
  if (!isAmount(value)) return before;
  if (!isSize(before)) return notBelowZero(value);
  return notBelowZero(isSize(value) ? convertSize(value, before.unit) : { amount: value, unit: before.unit });
}

function notBelowZero(value: AmountValue): AmountValue {
  return isSize(value) ? { ...value, amount: Math.max(0, value.amount) } : Math.max(0, value);
}

/**
 * A host that only the scheduler knows, as constraints see it before its report (scalelib.md 13). `vcpus`: its number of vCPUs if the report
 * does not say.
 */
export function viewHost(hostname: string, defaults: Defaults, vcpus: number): NodeView {
  const properties: NodeProperties = {
    name: hostname,
    nodearray: "unknown",
    bucket_id: null,
    vm_size: "unknown",
    vm_family: "unknown",
    hostname,
    fqdn: hostname,
    hostname_or_uuid: hostname,
    private_ip: null,
    instance_id: null,
    location: "unknown",
    spot: false,
    vcpu_count: vcpus,
    pcpu_count: vcpus,
    gpu_count: 0,
    memory: { amount: 0, unit: "g" },
    infiniband: false,
    state: "running",
    exists: true,
    colocated: false,
    placement_group: null,
    keep_alive: false,
    ...NO_TIMES,
    cores_per_socket: null,
    version: "7.9",
  };
  const view: NodeView = { properties, available: {}, nodeId: null, configuration: {}, jobs: NO_JOBS };
  return { ...view, available: applyDefaults(defaults, view).resources };
}

const NO_JOBS: ReadonlySet<string> = new Set();
