import type { Resources, Scalar } from "../../domain/resources.ts";
import { isObject, readAttribute } from "./read-fields.ts";
import type { JsonObject } from "./read-fields.ts";

/** What a record's `Configuration` tells us. Objects in it, other than `autoscale`, are not ours, may hold secrets, and stay unread. */
export interface AutoscaleSettings {
  /** Only an explicit false (or "false") switches off; absent means true (cyclecloud-wire.md A.3). */
  readonly enabled: boolean;
  /** `autoscale.resources`: numbers, texts, booleans and nulls as they are; a size there stays text (scalelib-behaviour.md 4). */
  readonly resources: Resources;
  /** The members of Configuration itself that are plain values and hold no secret by their name; absent: there are none. */
  readonly configuration?: Readonly<Record<string, Scalar>>;
}

const nothing: AutoscaleSettings = { enabled: true, resources: {} };

/** Names under which people keep what nobody else should read. */
const SECRET = /pass|secret|token|credential|key/i;

/** Keys below Configuration are the user's own, so they are read exactly. */
export function readAutoscale(record: JsonObject): AutoscaleSettings {
  const configuration = readAttribute(record, "Configuration");
  if (!isObject(configuration)) return nothing;
  const autoscale = isObject(configuration["autoscale"]) ? configuration["autoscale"] : {};
  const enabled = autoscale["enabled"];
  const values = readValues(configuration, (name) => !SECRET.test(name));
  return {
    enabled: !(enabled === false || (typeof enabled === "string" && enabled.toLowerCase() === "false")),
    resources: readValues(autoscale["resources"], () => true),
    ...(Object.keys(values).length === 0 ? {} : { configuration: values }),
  };
}

function readValues(value: unknown, wanted: (name: string) => boolean): Readonly<Record<string, Scalar>> {
  if (!isObject(value)) return {};
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
