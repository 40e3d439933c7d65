import type { SimulatorRequest } from "./answer.ts";
import type { InvalidReason } from "./options.ts";
import type { Milliseconds } from "../domain/units.ts";

/** The requests that a fault affects. An absent part matches all. `pathIncludes` is searched in the path as sent. */
type FaultMatch = { readonly method?: string; readonly pathIncludes?: string };

/**
 * One planned failure. `dropRequest`: the request has no effect, and the connection breaks. `dropAnswer`: the request has its effect, and
 * the connection breaks. `status`: this answer instead, without the effect, or with it if `afterEffect`. Only `delayMs`: the true answer,
 * this many real milliseconds late.
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
  restart(nodeId: string, options: { readonly comesBack: boolean }): void;
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
  freezeLag(): void;
  thawLag(): void;
};

/** Faults that can be planned while the simulator runs. Each throws an Error if it names a node, bucket or cluster that does not exist. */
export class Faults {
  readonly #actions: FaultActions;
  #planned: readonly Planned[] = [];
  #falseEmptyLeft = 0;

  constructor(actions: FaultActions) {
    this.#actions = actions;
  }

  /** The next `times` matching requests fail. If several planned failures match a request, the oldest is used. */
  failNext(match: FaultMatch, times: number, failure: Failure): void {
    this.#planned = [...this.#planned, { match, failure, left: times }];
  }

  /** The next `times` status answers show no nodes, and no usage by nodes of the simulator. */
  falseEmptyStatus(times: number): void {
    this.#falseEmptyLeft = times;
  }

  /** The VMs disappear at once, and their nodes with them. */
  vanish(nodeIds: readonly string[]): void {
    this.#actions.vanish(nodeIds);
  }

  /** A health event: the node's Status becomes Failed. Its VM continues to run. */
  failNode(nodeId: string, message = "A health check failed"): void {
    this.#actions.failNode(nodeId, message);
  }

  /** Shuts a Ready node down from inside: its status is Off, its target state stays Started, and its VM is not deleted. */
  shutDown(nodeId: string): void {
    this.#actions.shutDown(nodeId);
  }

  /**
   * Restarts a node that was Ready, even if it was shut down since. It is Ready again after its time to prepare; without `comesBack`, it
   * stays in Restarting.
   */
  restart(nodeId: string, { comesBack = true }: { readonly comesBack?: boolean } = {}): void {
    this.#actions.restart(nodeId, { comesBack });
  }

  /** From now on starts of the node fail with this error. Undefined: they succeed again. */
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

  /** Undefined leaves the field out of the status, as for a cluster that was never started. */
  setClusterState(cluster: string, state: string | undefined, targetState: string | undefined): void {
    this.#actions.setClusterState(cluster, state, targetState);
  }

  /** From now on new nodes do not begin to show, and nodes that are started are still listed as Deallocated. */
  freezeLag(): void {
    this.#actions.freezeLag();
  }

  /** Shows everything that a frozen lag has held back. */
  thawLag(): void {
    this.#actions.thawLag();
  }

  /** Removes planned failures and false answers that are not used up. Changes of nodes and clusters stay. */
  clear(): void {
    this.#planned = [];
    this.#falseEmptyLeft = 0;
  }

  /** The planned failure of this request, which counts as used. Undefined: none. */
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

  /** Whether this status answer must be empty, which counts as used. */
  takeFalseEmpty(): boolean {
    if (this.#falseEmptyLeft === 0) return false;
    this.#falseEmptyLeft -= 1;
    return true;
  }
}
