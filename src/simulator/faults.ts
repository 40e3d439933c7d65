import type { SimulatorRequest } from "./answer.ts";
import type { InvalidReason } from "./options.ts";
import type { Milliseconds } from "../domain/units.ts";

/** The requests that a fault affects. An absent part matches all. `pathIncludes` is searched in the path as sent. */
export type FaultMatch = { readonly method?: string; readonly pathIncludes?: string };

/**
 * What goes wrong. `dropRequest`: no effect, the connection breaks. `dropAnswer`: the effect happens, the connection
 * breaks. `status`: this answer instead, without effect, or with it if `afterEffect`. Only `delayMs` (real
 * milliseconds): the true answer, late.
 */
export type Failure = {
  readonly status?: number;
  readonly body?: unknown;
  readonly delayMs?: Milliseconds;
  readonly dropAnswer?: true;
  readonly dropRequest?: true;
  readonly afterEffect?: true;
};

type Planned = { readonly match: FaultMatch; readonly failure: Failure; left: number };

/** The parts of the simulator that faults of nodes and clusters need. */
export type FaultActions = {
  vanish(nodeIds: readonly string[]): void;
  failNode(nodeId: string, message: string): void;
  shutDown(nodeId: string): void;
  restart(nodeId: string, comesBack: boolean): void;
  refuseStart(nodeId: string, message: string | undefined): void;
  setKeepAlive(nodeId: string, keepAlive: boolean): void;
  setCapacity(
    array: string,
    machineType: string,
    left: number | undefined,
    cluster: string | undefined,
  ): void;
  setInvalid(
    array: string,
    machineType: string,
    reason: InvalidReason | undefined,
    cluster: string | undefined,
  ): void;
  setClusterState(cluster: string, state: string | undefined, targetState: string | undefined): void;
  freezeLag(frozen: boolean): void;
};

/** Everything that can be made to go wrong while the simulator runs. Faults that name what is not there throw. */
export class Faults {
  readonly #actions: FaultActions;
  #planned: readonly Planned[] = [];
  #falseEmptyLeft = 0;

  constructor(actions: FaultActions) {
    this.#actions = actions;
  }

  /** The next `times` requests that match fail; of several plans that match, the oldest is used up first. */
  failNext(match: FaultMatch, times: number, failure: Failure): void {
    this.#planned = [...this.#planned, { match, failure, left: times }];
  }

  /** The next `times` status answers show no node, none active and none of our own cores in use. */
  falseEmptyStatus(times: number): void {
    this.#falseEmptyLeft = times;
  }

  /** The VMs disappear at once, and their nodes with them. */
  vanish(nodeIds: readonly string[]): void {
    this.#actions.vanish(nodeIds);
  }

  /** A health event: the node's Status becomes Failed while its VM runs on. */
  failNode(nodeId: string, message = "A health check failed"): void {
    this.#actions.failNode(nodeId, message);
  }

  /** Shuts a Ready node down from inside: it is still wanted, and Off. Its VM is not deleted. */
  shutDown(nodeId: string): void {
    this.#actions.shutDown(nodeId);
  }

  /** A node that was Ready restarts, also one that was shut down; it is Ready again after its time to prepare, or never. */
  restart(nodeId: string, comesBack = true): void {
    this.#actions.restart(nodeId, comesBack);
  }

  /** From now on starts of the node fail with this error. Undefined: no longer. */
  refuseStart(nodeId: string, message: string | undefined): void {
    this.#actions.refuseStart(nodeId, message);
  }

  keepAlive(nodeId: string, keepAlive: boolean): void {
    this.#actions.setKeepAlive(nodeId, keepAlive);
  }

  /** Number of further VMs that Azure has for the array and machine type. Undefined: enough. */
  setCapacity(array: string, machineType: string, left: number | undefined, cluster?: string): void {
    this.#actions.setCapacity(array, machineType, left, cluster);
  }

  /** Makes a bucket invalid, or valid with undefined. */
  setInvalid(array: string, machineType: string, reason: InvalidReason | undefined, cluster?: string): void {
    this.#actions.setInvalid(array, machineType, reason, cluster);
  }

  /** undefined leaves the field out of the status, as for a cluster that was never started. */
  setClusterState(cluster: string, state: string | undefined, targetState: string | undefined): void {
    this.#actions.setClusterState(cluster, state, targetState);
  }

  /** While frozen, accepted nodes do not begin to show, and nodes that are started go on showing as Deallocated. */
  freezeLag(frozen: boolean): void {
    this.#actions.freezeLag(frozen);
  }

  /** Takes back what was planned and is not used up. */
  clear(): void {
    this.#planned = [];
    this.#falseEmptyLeft = 0;
  }

  /** The failure that this request meets, counted as used. */
  takeFailure(request: SimulatorRequest): Failure | undefined {
    const planned = this.#planned.find(
      ({ match, left }) =>
        left > 0 &&
        (match.method === undefined || match.method === request.method) &&
        (match.pathIncludes === undefined || request.path.includes(match.pathIncludes)),
    );
    if (planned === undefined) return undefined;
    planned.left -= 1;
    this.#planned = this.#planned.filter(({ left }) => left > 0);
    return planned.failure;
  }

  takeFalseEmpty(): boolean {
    if (this.#falseEmptyLeft === 0) return false;
    this.#falseEmptyLeft -= 1;
    return true;
  }
}
