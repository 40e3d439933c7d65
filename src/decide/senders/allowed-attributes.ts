import { isAttributes } from "../../domain/attributes.ts";
import type { NodeAttributes } from "../../domain/demand.ts";
import { EVERY_ATTRIBUTE } from "../../domain/sender-rules.ts";

/** A node attribute that its sender may not set. `path`: as it was sent. The value serves to describe its kind. */
export interface RefusedAttribute {
  readonly path: string;
  readonly value: unknown;
}

/** Every sender may set these (cyclecloud-wire.md C.2 and C.3, docs/demand.md). */
export const DOCUMENTED_ATTRIBUTES: readonly string[] = ["Configuration", "Interruptible"];

/** Parts of `Configuration` with settings of CycleCloud and its agent. Only documented ones may be set there. */
const GUARDED: readonly string[] = ["configuration.autoscale", "configuration.cyclecloud"];

/** The documented settings in these parts. */
export const DOCUMENTED_SETTINGS: readonly string[] = [
  "Configuration.autoscale.is_hpc",
  "Configuration.autoscale.resources",
  "Configuration.cyclecloud.cluster.autoscale.idle_time_after_jobs",
  "Configuration.cyclecloud.cluster.autoscale.idle_time_before_jobs",
  "Configuration.cyclecloud.cluster.autoscale.start_enabled",
  "Configuration.cyclecloud.cluster.autoscale.stop_enabled",
  "Configuration.cyclecloud.cluster.autoscale.stop_interval",
  "Configuration.cyclecloud.cluster.autoscale.use_node_groups",
];

const DOCUMENTED = DOCUMENTED_SETTINGS.map((path) => path.toLowerCase());

/**
 * The attributes that are neither documented nor on the list `allowed`, in the order in which they were sent. Names are compared without case,
 * as in CycleCloud (cyclecloud-wire.md A.1). A dot in a name separates levels.
 */
export function refusedAttributes(
  attributes: NodeAttributes | undefined,
  allowed: readonly string[],
): readonly RefusedAttribute[] {
  if (attributes === undefined || allowed.includes(EVERY_ATTRIBUTE)) return NONE;
  const listed = allowed.map((path) => path.toLowerCase());
  const refused: RefusedAttribute[] = [];
  for (const [name, value] of Object.entries(attributes)) {
    const key = name.toLowerCase();
    if (key === "interruptible" || isListed(key, listed)) continue;
    if (name === "Configuration" && isAttributes(value)) judgeMembers(name, value, listed, refused);
    else refused.push({ path: name, value });
  }
  return refused;
}

const NONE: readonly RefusedAttribute[] = [];

function judgeMembers(
  path: string,
  members: NodeAttributes,
  listed: readonly string[],
  refused: RefusedAttribute[],
): void {
  for (const [name, value] of Object.entries(members)) {
    const at = `${path}.${name}`;
    const key = at.toLowerCase();
    const isFree = !GUARDED.some((guarded) => isWithin(key, guarded) || isWithin(guarded, key));
    if (isFree || isListed(key, DOCUMENTED) || isListed(key, listed)) continue;
    // A member of an object may be allowed. Any other value replaces everything there.
    const leads = [...DOCUMENTED, ...listed].some((one) => isWithin(one, key));
    if (leads && isAttributes(value)) judgeMembers(at, value, listed, refused);
    else refused.push({ path: at, value });
  }
}

const isListed = (key: string, listed: readonly string[]): boolean =>
  listed.some((path) => isWithin(key, path));

/** Whether a path is the other one or below it. */
const isWithin = (path: string, above: string): boolean => path === above || path.startsWith(`${above}.`);
