import type { Answer, TransportRequest } from "../../src/adapters/cyclecloud/transport.ts";
import { createStopDesk } from "../../src/app/autostop/answer-autostop.ts";
import { createLanes } from "../../src/app/process/lanes.ts";
import { createRecorder } from "../../src/app/demand/record-demand.ts";
import type { Log } from "../../src/app/ports/log.ts";
import type { Composition } from "../../src/compose.ts";
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
  /** Stands between the autoscaler and CycleCloud: what a slow, silent or lying server does. */
  readonly between?: (send: Send, clock: VirtualClock) => Send;
}

/** One request as CycleCloud's door saw it. */
export interface Sent {
  readonly at: number;
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
}

/** Somebody else who lives by the clock: a scheduler, or two thousand of them. */
export interface Actor {
  /** When there is next something to do. */
  nextEventAt(now: number): number;
  /** Does what is due; what it starts may go on while the clock moves. */
  step(now: number): Promise<unknown>;
}

/** A record as it was, with its bodies. */
export interface Backup {
  readonly record: ClusterRecord;
  readonly bodies: Bodies;
}

/** A node that is Ready: what it knows of itself. */
export interface ReadyNode {
  readonly nodeId: string;
  readonly hostname: string;
  readonly instanceId: string;
  readonly stopUrl: string;
}

/** The same ports, and nothing else of what the process knew. */
export function newProcess(composed: Composition): Composition {
  const app = { ports: composed.app.ports, lanes: createLanes() };
  return { ...composed, app, recorder: createRecorder(app), stopDesk: createStopDesk(app) };
}
