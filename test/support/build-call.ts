import type { StopCall } from "../../src/decide/autostop/stop-survey.ts";
import { withQuestions } from "../../src/decide/stops/questions.ts";
import type { Bodies } from "../../src/domain/bodies.ts";
import type { Questions } from "../../src/domain/questions.ts";
import { EXECUTE, NOW } from "./build-node.ts";

/** The question of the node with this id, as it arrives now. */
export function buildCall(id: string, more: Partial<StopCall> = {}): StopCall {
  return { instance: `vm-${id}`, array: EXECUTE, unhealthy: false, begin: true, arrivedAt: NOW, ...more };
}

/** The bodies as the next load shows them once these questions are saved. */
export function afterQuestions(bodies: Bodies, questions: Questions | undefined): Bodies {
  if (questions === undefined) return bodies;
  return { ...bodies, questions, ledger: withQuestions(bodies.ledger, questions) };
}
