import type { SimulatorResponse } from "./answer.ts";
import { answer, refuse } from "./answer.ts";
import type { SimulatorEvent } from "./events.ts";
import type { Faults } from "./faults.ts";
import type { Fleet } from "./fleet.ts";
import type { Action, Operation, OperationBook } from "./operations.ts";
import type { Random } from "./random.ts";
import { drawUuid } from "./random.ts";
import type { Cluster, World } from "./world.ts";

/** One call of CycleCloud's API, and what answering it needs. */
export type Call = {
  readonly world: World;
  readonly fleet: Fleet;
  readonly operations: OperationBook;
  readonly faults: Pick<Faults, "takeFalseEmpty">;
  readonly random: Random;
  readonly record: (event: SimulatorEvent) => void;
  readonly now: number;
};

export function refuseCall({ world }: Call, status: number, message: string): SimulatorResponse {
  return refuse(status, message, world.quirks.errorBody);
}

/** 409: the request cannot be carried out as it is. */
export function answerConflict({ world }: Call, message: string): SimulatorResponse {
  return refuse(409, message, world.quirks.conflictBody);
}

export function answerRepeat(call: Call): SimulatorResponse {
  return answerConflict(call, "A request with this id was already made");
}

/** Remembers an accepted request as an operation on these nodes. */
export function acceptOperation(
  { operations, random, now }: Call,
  action: Action,
  cluster: Cluster,
  requestId: string | undefined,
  nodeIds: readonly string[],
): Operation {
  const operation: Operation = {
    id: drawUuid(random),
    action,
    cluster: cluster.name,
    requestId,
    startedAt: now,
    nodeIds,
  };
  operations.add(operation);
  return operation;
}

export function answerAccepted({ id }: Operation, body: object): SimulatorResponse {
  return answer(202, { operationId: id, ...body }, { Location: `/operations/${id}` });
}
