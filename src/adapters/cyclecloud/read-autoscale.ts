import type { AutoscaleSettings } from "../../domain/attributes.ts";
import { autoscaleSettingsOf } from "../../domain/attributes.ts";
import { readAttribute } from "./read-fields.ts";
import type { JsonObject } from "./read-fields.ts";

/** The settings in a record's `Configuration`. */
export function readAutoscale(record: JsonObject): AutoscaleSettings {
  return autoscaleSettingsOf(readAttribute(record, "Configuration"));
}
