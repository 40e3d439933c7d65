import { Heap } from "./heap.ts";
import type { SimulatedNode } from "./node.ts";

/** A change of a node that comes with time. `show` and `unveil` change only what is listed; the others change the node's course. */
type StepKind =
  | "show"
  | "unveil"
  | "acquire"
  | "raise"
  | "finish-start"
  | "finish-termination"
  | "finish-deallocation"
  | "forget";

export type Step = {
  readonly at: number;
  readonly kind: StepKind;
  readonly node: SimulatedNode;
  /** The node's course when the step was scheduled. */
  readonly course: number;
};

/** The scheduled steps of all nodes, in order of time. Steps that a later change of the node has cancelled are skipped. */
export class Agenda {
  readonly #steps = new Heap<Step>((a, b) => a.at - b.at);

  schedule(node: SimulatedNode, kind: StepKind, at: number): void {
    this.#steps.push({ at, kind, node, course: node.course });
  }

  /** The time of the next step. Undefined if none is scheduled. */
  nextAt(): number | undefined {
    return this.#peek()?.at;
  }

  /** Removes and returns the first step that is due at `now`. Undefined if none is due. */
  takeDue(now: number): Step | undefined {
    const step = this.#peek();
    if (step === undefined || step.at > now) return undefined;
    this.#steps.pop();
    return step;
  }

  #peek(): Step | undefined {
    for (;;) {
      const step = this.#steps.peek();
      if (step === undefined || !isVoid(step)) return step;
      this.#steps.pop();
    }
  }
}

function isVoid({ kind, node, course }: Step): boolean {
  if (kind === "show") return !node.holdsQuota || node.shown;
  if (kind === "unveil") return node.veil === undefined;
  return course !== node.course;
}
