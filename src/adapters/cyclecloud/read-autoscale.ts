import type { AutoscaleSettings } from "../../domain/attributes.ts";
import { autoscaleSettingsOf } from "../../domain/attributes.ts";
import { readAttribute } from "./read-fields.ts";
import type { JsonObject } from "./read-fields.ts";

/** What a record's `Configuration` tells us. */
export function readAutoscale(record: JsonObject): AutoscaleSettings {
  return autoscaleSettingsOf(readAttribute(record, "Configuration"));
}
