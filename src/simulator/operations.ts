import type { Quirks } from "./options.ts";
import type { Seconds } from "../domain/units.ts";

export type Action =
  | "create"
  | "terminate"
  | "remove"
  | "shutdown"
  | "deallocate"
  | "start"
  | "restart"
  | "reimage";

/** One accepted request. It has no state: only its nodes show whether it is complete (cyclecloud-wire.md A.9). */
export type Operation = {
  readonly id: string;
  readonly action: Action;
  readonly cluster: string;
  readonly requestId: string | undefined;
  readonly startedAt: number;
  readonly nodeIds: readonly string[];
};

type WireOperation = { readonly action: Action; readonly startTime: string };

/** Remembers every accepted request for ever. It is unknown for how long CycleCloud does (cyclecloud-wire.md A.6). */
export class OperationBook {
  readonly #lagSeconds: Seconds;
  readonly #shareNamespace: boolean;
  readonly #byId = new Map<string, Operation>();
  readonly #byRequest = new Map<string, Operation>();

  constructor({
    operationsLagSeconds,
    managementIdsShareNamespace,
  }: Pick<Quirks, "operationsLagSeconds" | "managementIdsShareNamespace">) {
    this.#lagSeconds = operationsLagSeconds;
    this.#shareNamespace = managementIdsShareNamespace;
  }

  /** Whether a request of this kind was accepted under this id before, even if it cannot be looked up yet. */
  isTaken(requestId: string, action: Action): boolean {
    return this.#byRequest.has(this.#requestKey(requestId, action));
  }

  add(operation: Operation): void {
    this.#byId.set(operation.id, operation);
    if (operation.requestId === undefined) return;
    this.#byRequest.set(this.#requestKey(operation.requestId, operation.action), operation);
  }

  findById(id: string, now: number): Operation | undefined {
    return this.#ifVisible(this.#byId.get(id), now);
  }

  /** If creates and management operations may use the same id, the create is found. */
  findByRequest(requestId: string, now: number): Operation | undefined {
    return (
      this.#ifVisible(this.#byRequest.get(this.#requestKey(requestId, "create")), now) ??
      this.#ifVisible(this.#byRequest.get(this.#requestKey(requestId, "terminate")), now)
    );
  }

  #ifVisible(operation: Operation | undefined, now: number): Operation | undefined {
    if (operation === undefined) return undefined;
    return now >= operation.startedAt + this.#lagSeconds * 1000 ? operation : undefined;
  }

  #requestKey(requestId: string, action: Action): string {
    const space = this.#shareNamespace || action === "create" ? "create" : "manage";
    return `${space}:${requestId}`;
  }
}

export function renderOperation(operation: Operation): WireOperation {
  return { action: operation.action, startTime: new Date(operation.startedAt).toISOString() };
}
