import type { NodeAttributes } from "./demand.ts";
import type { Resources, Scalar } from "./resources.ts";
import { isFields } from "./fields.ts";

/** The members of both. Objects are merged member by member; otherwise `over` wins. */
export function mergeAttributes(under: NodeAttributes, over: NodeAttributes): NodeAttributes {
  const merged: Record<string, unknown> = { ...under };
  for (const [key, value] of Object.entries(over)) {
    const below = Object.hasOwn(under, key) ? under[key] : undefined;
    merged[key] = isFields(below) && isFields(value) ? mergeAttributes(below, value) : value;
  }
  return merged;
}

/**
 * Whether nodes with these attributes are spot nodes: the value of `Interruptible`, true or false, also as text. Keys of CycleCloud's
 * records come in any case (cyclecloud-wire.md A.1); the exact spelling wins. Undefined: the attributes do not say, so the array decides.
 */
export function spotIn(attributes: NodeAttributes = {}): boolean | undefined {
  const key = Object.hasOwn(attributes, "Interruptible")
    ? "Interruptible"
    : Object.keys(attributes).find((name) => name.toLowerCase() === "interruptible");
  const value = key === undefined ? undefined : attributes[key];
  if (isFalse(value)) return false;
  return value === true || (typeof value === "string" && value.toLowerCase() === "true") ? true : undefined;
}

/** The attributes to send for nodes whose placement group the request names itself. Undefined if none are left. */
export function withoutPlacementGroup(attributes: NodeAttributes = {}): NodeAttributes | undefined {
  const { PlacementGroupId: _said, ...rest } = attributes;
  return Object.keys(rest).length === 0 ? undefined : rest;
}

/** The settings that we read from a `Configuration`. Other objects in it are not ours, may hold secrets, and are not read. */
export interface AutoscaleSettings {
  /** Only an explicit false (or "false") switches autoscaling off. Absent means true (cyclecloud-wire.md A.3). */
  readonly enabled: boolean;
  /** `autoscale.resources`: numbers, texts, booleans and nulls unchanged. A size stays text (scalelib.md 4). */
  readonly resources: Resources;
  /** `cyclecloud.cluster.autoscale.stop_enabled`: only an explicit false (or "false") switches autostop off (cyclecloud-wire.md C.2, C.3). */
  readonly stopEnabled: boolean;
  /** `autoscale.is_hpc`: false (or "false") means that no placement groups are made there (scalelib.md 8). Absent: not specified. */
  readonly isHpc?: boolean;
  /**
   * Members of Configuration itself that are plain values and whose names do not suggest a secret. Absent: none. An observation keeps only
   * those that the configuration in force names (named-configuration.ts).
   */
  readonly configuration?: Readonly<Record<string, Scalar>>;
}

const NO_SETTINGS: AutoscaleSettings = { enabled: true, resources: {}, stopEnabled: true };

/** Names that suggest a secret. */
const SECRET = /pass|secret|token|credential|key/i;

/** Reads a `Configuration` of any form. Its keys are the user's own, so they are case-sensitive. */
export function autoscaleSettingsOf(configuration: unknown): AutoscaleSettings {
  if (!isFields(configuration)) return NO_SETTINGS;
  const autoscale = isFields(configuration["autoscale"]) ? configuration["autoscale"] : {};
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

/** The two names under which nodes read their stop URL (docs/pbs.md). */
const STOP_URLS = [
  ["cyclecloud", "cluster", "autoscale", "stop_callback"],
  ["autoscale", "stop_callback"],
] as const;

/** The stop URLs in a `Configuration`, ours and others'. Each contains a token, so they are neither stored nor shown. */
export function stopUrlsOf(configuration: unknown): readonly string[] {
  const found = STOP_URLS.map((path) => memberAt(configuration, path));
  return found.filter((url) => typeof url === "string");
}

function memberAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce((at, key) => (isFields(at) ? at[key] : undefined), value);
}

function scalarsOf(value: unknown, wanted: (name: string) => boolean): Readonly<Record<string, Scalar>> {
  if (!isFields(value)) return {};
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
