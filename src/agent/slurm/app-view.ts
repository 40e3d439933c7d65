import type { Instant, Seconds } from "../../domain/units.ts";

/** What the app says of one name of the set (docs/demand.md). */
export interface NameOutcome {
  readonly state: "coming" | "ready" | "refused" | "failed";
  /** The resume that this answers. */
  readonly since?: Instant;
  /** When it was decided. */
  readonly from?: Instant;
  readonly reason?: string;
  readonly isOurs: boolean;
  /** Its machine was there before the resume that Slurm waits for. */
  readonly isEarlier: boolean;
  /** For whom the cause holds: this name alone, or every job that could use the array and size. Absent: neither is said. */
  readonly holdsFor?: "name" | "everyone";
  /** Until when a pause lasts. Absent: the cause has no end that is known. */
  readonly until?: Instant;
  /** How many more nodes of the array, size and group there is room for. Absent: not said. */
  readonly room?: number;
}

export type Mode = "act" | "observe";

/** What the app said at one moment. */
export interface AppView {
  /** When it was asked. */
  readonly at: Instant;
  /** Age of the app's last observation of CycleCloud then. Absent: it made none yet. */
  readonly observationAge?: Seconds;
  /** Whether scale-down rests, after an outage or in a new record. */
  readonly rests: boolean;
  /** By node array. One that is not named is observed. */
  readonly modes: ReadonlyMap<string, Mode>;
  readonly names: ReadonlyMap<string, NameOutcome>;
  /** For how many more nodes there is room, by node array, size and group. */
  readonly places: readonly PlaceRoom[];
}

/** For how many more nodes there is room, and if for none because of a pause: until when. */
export interface Room {
  readonly nodes: number;
  readonly until?: Instant;
}

interface PlaceRoom extends Room {
  readonly nodearray: string;
  readonly size: string;
  readonly group?: string;
  /** What the node array and the cluster have room for, in all their sizes. */
  readonly shared: number;
}
