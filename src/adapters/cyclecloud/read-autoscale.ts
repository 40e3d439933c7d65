import type { Resources } from "../../domain/resources.ts";
import { isObject, readAttribute } from "./read-fields.ts";
import type { JsonObject } from "./read-fields.ts";

/** What a record's `Configuration.autoscale` tells us; the rest of Configuration is not ours and may hold secrets, so it stays unread. */
export interface AutoscaleSettings {
  /** Only an explicit false (or "false") switches off; absent means true (cyclecloud-wire.md A.3). */
  readonly enabled: boolean;
  /** Numbers only: other resource kinds have no place in {@link Resources}. */
  readonly resources: Resources;
}

const nothing: AutoscaleSettings = { enabled: true, resources: {} };

/** Keys below Configuration are the user's own, so they are read exactly. */
export function readAutoscale(record: JsonObject): AutoscaleSettings {
  const configuration = readAttribute(record, "Configuration");
  const autoscale = isObject(configuration) ? configuration["autoscale"] : undefined;
  if (!isObject(autoscale)) return nothing;
  const enabled = autoscale["enabled"];
  return {
    enabled: !(enabled === false || (typeof enabled === "string" && enabled.toLowerCase() === "false")),
    resources: readResources(autoscale["resources"]),
  };
}

function readResources(value: unknown): Resources {
  if (!isObject(value)) return {};
  const amounts: Record<string, number> = {};
  for (const [name, amount] of Object.entries(value)) {
    if (typeof amount === "number" && Number.isFinite(amount)) amounts[name] = amount;
  }
  return amounts;
}
