import type { ClusterRecord } from "../../domain/record.ts";
import type { Bodies } from "../../domain/bodies.ts";
import type { Policy } from "../../domain/policy.ts";
import type { LoadedRecord } from "../ports/record-store.ts";

/** The manifest as loaded. `stored` is undefined for a record that does not exist yet. */
export interface Current {
  readonly record: ClusterRecord;
  readonly stored: LoadedRecord | undefined;
}

export interface CurrentWhole extends Current {
  readonly bodies: Bodies;
}

/** The same with the configuration under which it is decided. */
export interface CurrentInForce extends CurrentWhole {
  readonly policy: Policy;
}
