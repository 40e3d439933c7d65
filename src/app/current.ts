import type { ClusterRecord } from "../domain/record.ts";
import type { Bodies } from "../domain/bodies.ts";
import type { LoadedRecord } from "./ports.ts";

/** The manifest as loaded; `stored` is absent for a record that is about to be born. */
export interface Current {
  readonly record: ClusterRecord;
  readonly stored: LoadedRecord | undefined;
}

export interface CurrentWhole extends Current {
  readonly bodies: Bodies;
}
