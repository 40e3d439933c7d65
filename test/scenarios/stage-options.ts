import type { Answer, TransportRequest } from "../../src/adapters/cyclecloud/transport.ts";
import type { Log } from "../../src/app/ports/ports.ts";
import type { Bodies } from "../../src/domain/bodies.ts";
import type { Policy } from "../../src/domain/policy.ts";
import type { ClusterRecord } from "../../src/domain/record.ts";
import { VirtualClock } from "../../src/local/play/virtual-clock.ts";
import type { SimulatorOptions } from "../../src/simulator/options.ts";

/*
 * How a stage is set up, and what a test gets from it.
 */

/** A Thursday at midnight. */
export const ORIGIN = Date.UTC(2026, 0, 1);

export const MINUTE_MS = 60_000;

export type Send = (request: TransportRequest) => Promise<Answer>;

export interface StageOptions {
  readonly simulator: SimulatorOptions;
  readonly policy?: Partial<Policy>;
  readonly log?: Log;
  /** Stands between the autoscaler and CycleCloud: a slow, silent or lying server. */
  readonly between?: (send: Send, clock: VirtualClock) => Send;
}

/** One request that CycleCloud got. */
export interface Sent {
  readonly at: number;
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
}

/** A part of the outside world that acts by the clock: a scheduler, or two thousand of them. */
export interface Actor {
  /** When it acts next. */
  nextEventAt(now: number): number;
  /** Does what is due. The promise may still be open while the clock moves. */
  step(now: number): Promise<unknown>;
}

/** A copy of a record, with its bodies. */
export interface Backup {
  readonly record: ClusterRecord;
  readonly bodies: Bodies;
}
