import type { MeasuredCall } from "../../decide/pace/calls.ts";

/** The calls of one cluster that ended in this process since they were last taken. */
export class CallMeter {
  #ended: MeasuredCall[] = [];

  note(call: MeasuredCall): void {
    this.#ended.push(call);
  }

  /** The calls not yet taken, oldest first. Calls that cannot be saved are lost; the next call is measured too. */
  take(): readonly MeasuredCall[] {
    const taken = this.#ended;
    this.#ended = [];
    return taken;
  }
}
