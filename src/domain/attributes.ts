import type { NodeAttributes } from "./demand.ts";
import type { Resources, Scalar } from "./resources.ts";

/** Members of both, objects merged member by member; else `over` wins. */
export function mergeAttributes(under: NodeAttributes, over: NodeAttributes): NodeAttributes {
  const merged: Record<string, unknown> = { ...under };
  for (const [key, value] of Object.entries(over)) {
    const below = Object.hasOwn(under, key) ? under[key] : undefined;
    merged[key] = isAttributes(below) && isAttributes(value) ? mergeAttributes(below, value) : value;
  }
  return merged;
}

/** An object, neither a list nor null. */
export function isAttributes(value: unknown): value is NodeAttributes {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Whether nodes with these attributes are spot nodes: `Interruptible`, whatever its case, true or false or the same as text (keys of
 * CycleCloud's records come in any case, cyclecloud-wire.md A.1; the exact spelling wins). Undefined: the attributes do not say, so it is
 * their array that does.
 */
export function spotIn(attributes: NodeAttributes = {}): boolean | undefined {
  const key = Object.hasOwn(attributes, "Interruptible")
    ? "Interruptible"
    : Object.keys(attributes).find((name) => name.toLowerCase() === "interruptible");
  const value = key === undefined ? undefined : attributes[key];
  if (isFalse(value)) return false;
  return value === true || (typeof value === "string" && value.toLowerCase() === "true") ? true : undefined;
}

/** What is sent as attributes of nodes whose placement group the request names itself; undefined: nothing is left. */
export function withoutPlacementGroup(attributes: NodeAttributes = {}): NodeAttributes | undefined {
  const { PlacementGroupId: _said, ...rest } = attributes;
  return Object.keys(rest).length === 0 ? undefined : rest;
}

/** What a `Configuration` tells us. Objects in it, other than `autoscale`, are not ours, may hold secrets, and stay unread. */
export interface AutoscaleSettings {
  /** Only an explicit false (or "false") switches off; absent means true (cyclecloud-wire.md A.3). */
  readonly enabled: boolean;
  /** `autoscale.resources`: numbers, texts, booleans and nulls as they are; a size there stays text (scalelib.md 4). */
  readonly resources: Resources;
  /** `cyclecloud.cluster.autoscale.stop_enabled`: only an explicit false (or "false") switches autostop off (cyclecloud-wire.md C.2, C.3). */
  readonly stopEnabled: boolean;
  /** `autoscale.is_hpc`: false (or "false") means that no placement groups are made there (scalelib.md 8); absent: it is not said. */
  readonly isHpc?: boolean;
  /** The members of Configuration itself that are plain values and hold no secret by their name; absent: there are none. Of them a look keeps what the configuration in force names (named-configuration.ts). */
  readonly configuration?: Readonly<Record<string, Scalar>>;
}

const NO_SETTINGS: AutoscaleSettings = { enabled: true, resources: {}, stopEnabled: true };

/** Names under which people keep what nobody else should read. */
const SECRET = /pass|secret|token|credential|key/i;

/** Reads a `Configuration`, whatever it is. Its keys are the user's own, so they are read exactly. */
export function autoscaleSettingsOf(configuration: unknown): AutoscaleSettings {
  if (!isAttributes(configuration)) return NO_SETTINGS;
  const autoscale = isAttributes(configuration["autoscale"]) ? configuration["autoscale"] : {};
  const values = scalarsOf(configuration, (name) => !SECRET.test(name));
  return {
    enabled: !isFalse(autoscale["enabled"]),
    resources: scalarsOf(autoscale["resources"], () => true),
    stopEnabled: !isFalse(memberAt(configuration, ["cyclecloud", "cluster", "autoscale", "stop_enabled"])),
    ...(autoscale["is_hpc"] === undefined ? {} : { isHpc: !isFalse(autoscale["is_hpc"]) }),
    ...(Object.keys(values).length === 0 ? {} : { configuration: values }),
  };
}

function isFalse(value: unknown): boolean {
  return value === false || (typeof value === "string" && value.toLowerCase() === "false");
}

/** Under both names that nodes read (docs/pbs.md). */
const STOP_URLS = [
  ["cyclecloud", "cluster", "autoscale", "stop_callback"],
  ["autoscale", "stop_callback"],
] as const;

/** The stop URLs that a `Configuration` holds, ours or others'. Each holds a token, so nobody keeps or shows them. */
export function stopUrlsOf(configuration: unknown): readonly string[] {
  const found = STOP_URLS.map((path) => memberAt(configuration, path));
  return found.filter((url) => typeof url === "string");
}

function memberAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce((at, key) => (isAttributes(at) ? at[key] : undefined), value);
}

function scalarsOf(value: unknown, wanted: (name: string) => boolean): Readonly<Record<string, Scalar>> {
  if (!isAttributes(value)) return {};
  const values: Record<string, Scalar> = {};
  for (const [name, member] of Object.entries(value)) {
    if (name !== "__proto__" && wanted(name) && isScalar(member)) values[name] = member;
  }
  return values;
}

function isScalar(value: unknown): value is Scalar {
  if (typeof value === "number") return Number.isFinite(value);
  return value === null || typeof value === "string" || typeof value === "boolean";
}
