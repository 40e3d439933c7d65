import type { MeasuredCall } from "../../decide/pace/calls.ts";
import type { SilentCall } from "../../decide/pace/cut-off.ts";
import type { Endpoint } from "../../domain/calls.ts";
import type { Instant } from "../../domain/units.ts";

/** The calls of one cluster in this process. */
export class CallMeter {
  #ended: MeasuredCall[] = [];
  readonly #silent = new Map<Endpoint, SilentCall>();

  note(call: MeasuredCall): void {
    this.#ended.push(call);
  }

  /** The calls that ended since they were last taken, oldest first. Calls that cannot be saved are lost; the next call is measured too. */
  take(): readonly MeasuredCall[] {
    const taken = this.#ended;
    this.#ended = [];
    return taken;
  }

  /** The last call of this endpoint, if it has had no answer. */
  silentCall(endpoint: Endpoint): SilentCall | undefined {
    return this.#silent.get(endpoint);
  }

  /** A call begins, or has ended without an answer. An older call than the last one is ignored. */
  noteSilent(endpoint: Endpoint, call: SilentCall): void {
    const last = this.#silent.get(endpoint);
    if (last === undefined || last.began <= call.began) this.#silent.set(endpoint, call);
  }

  /** The call that began then was answered. After a status, other calls that began before it count no more. */
  noteAnswer(endpoint: Endpoint, began: Instant): void {
    for (const [other, call] of this.#silent)
      if ((other === endpoint || endpoint === "status") && call.began <= began) this.#silent.delete(other);
  }
}
