import type { NodeAttributes } from "../../domain/demand.ts";
import { EVERY_ATTRIBUTE, GUARDED_SETTINGS } from "../../domain/sender-rules.ts";
import { isFields } from "../../domain/fields.ts";

/** A node attribute that its sender may not set. `path`: as it was sent. The value serves to describe its kind. */
interface RefusedAttribute {
  readonly path: string;
  readonly value: unknown;
}

/** Every sender may set these (cyclecloud-wire.md C.2 and C.3, docs/demand.md). */
export const DOCUMENTED_ATTRIBUTES: readonly string[] = ["Configuration", "Interruptible"];

const GUARDED = GUARDED_SETTINGS.map((path) => path.toLowerCase());

/** The documented settings in the guarded parts. */
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
 * The attributes that are neither documented nor on the list `allowed`, in the order in which they were sent (docs/decisions.md, "Node
 * attributes are an allow list"). Names are compared without case, as in CycleCloud (cyclecloud-wire.md A.1). A dot in a name separates
 * levels. `keys`: the only keys of `Configuration` that are free where CycleCloud has no settings; absent: all are.
 */
export function refusedAttributes(
  attributes: NodeAttributes | undefined,
  allowed: readonly string[],
  keys?: readonly string[],
): readonly RefusedAttribute[] {
  if (attributes === undefined || allowed.includes(EVERY_ATTRIBUTE)) return NONE;
  const listed = allowed.map((path) => path.toLowerCase());
  const free = keys?.map((key) => `configuration.${key.toLowerCase()}`);
  const refused: RefusedAttribute[] = [];
  for (const [name, value] of Object.entries(attributes)) {
    const key = name.toLowerCase();
    if (key === "interruptible" || isListed(key, listed)) continue;
    if (name === "Configuration" && isFields(value))
      judgeMembers(
        name,
        value,
        { isNarrowed: free !== undefined, listed: [...listed, ...(free ?? [])] },
        refused,
      );
    else refused.push({ path: name, value });
  }
  return refused;
}

const NONE: readonly RefusedAttribute[] = [];

interface Allowed {
  /** Whether a key counts as listed or not at all. Else every key outside the guarded parts is free. */
  readonly isNarrowed: boolean;
  readonly listed: readonly string[];
}

function judgeMembers(
  path: string,
  members: NodeAttributes,
  allowed: Allowed,
  refused: RefusedAttribute[],
): void {
  const { isNarrowed, listed } = allowed;
  for (const [name, value] of Object.entries(members)) {
    const at = `${path}.${name}`;
    const key = at.toLowerCase();
    const isGuarded = GUARDED.some((guarded) => isWithin(key, guarded) || isWithin(guarded, key));
    const isFree = !isNarrowed && !isGuarded;
    if (isFree || isListed(key, DOCUMENTED) || isListed(key, listed)) continue;
    // A member of an object may be allowed. Any other value replaces everything there.
    const leads = [...DOCUMENTED, ...listed].some((one) => isWithin(one, key));
    if (leads && isFields(value)) judgeMembers(at, value, allowed, refused);
    else refused.push({ path: at, value });
  }
}

const isListed = (key: string, listed: readonly string[]): boolean =>
  listed.some((path) => isWithin(key, path));

/** Whether a path is the other one or below it. */
const isWithin = (path: string, above: string): boolean => path === above || path.startsWith(`${above}.`);
