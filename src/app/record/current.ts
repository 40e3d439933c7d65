import type { ClusterRecord } from "../../domain/record.ts";
import type { Bodies } from "../../domain/bodies.ts";
import type { LoadedRecord } from "../ports/record-store.ts";

/** The manifest as loaded. `stored` is undefined for a record that does not exist yet. */
export interface Current {
  readonly record: ClusterRecord;
  readonly stored: LoadedRecord | undefined;
}

export interface CurrentWhole extends Current {
  readonly bodies: Bodies;
}
