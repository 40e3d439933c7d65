import { PortError } from "../../src/app/ports/port-error.ts";
import { tickAll } from "../../src/app/tick.ts";
import type { Shared } from "./instance.ts";
import { Instance } from "./instance.ts";
import { Contended } from "./line.ts";
import type { Schedule } from "./schedule.ts";

const TICK_MS = 60_000;

/** The processes of the function app in a run: their starts and restarts, their timer, and the errors that no fault explains. */
export class Processes {
  /** By position. A position is empty from a crash until the restart. */
  readonly instances: (Instance | undefined)[] = [];
  readonly #schedule: Schedule;
  readonly #trace: Shared["trace"];
  readonly #defects: string[] = [];
  #crashes = 0;

  constructor(schedule: Schedule, trace: Shared["trace"]) {
    this.#schedule = schedule;
    this.#trace = trace;
  }

  get defects(): readonly string[] {
    return this.#defects;
  }

  get crashes(): number {
    return this.#crashes;
  }

  start(count: number, shared: Omit<Shared, "noteCrash">): void {
    const noteCrash = (ended: Instance): void => {
      this.#crashes += 1;
      const position = this.instances.indexOf(ended);
      const life = Number(ended.name.split(".")[1]) + 1;
      this.instances[position] = undefined;
      this.#schedule.after(this.#schedule.dice.whole(500, 20_000), () => startOne(position, life));
    };
    const startOne = (position: number, life: number): void => {
      this.instances[position] = new Instance(`host${position}.${life}`, position, { ...shared, noteCrash });
    };
    for (let position = 0; position < count; position += 1) startOne(position, 1);
  }

  /** One of those that run. Undefined if none does. */
  any(): Instance | undefined {
    const running = this.instances.filter((instance) => instance !== undefined);
    return running[this.#schedule.dice.whole(0, running.length - 1)];
  }

  /** One of those that run and do not stand still for long. Undefined if none does. */
  awake(): Instance | undefined {
    const running = this.instances.filter((instance) => instance?.standsStill === false);
    return running[this.#schedule.dice.whole(0, running.length - 1)];
  }

  crashAll(): void {
    for (const instance of this.instances) instance?.crash();
  }

  /** The timer from that moment on: each minute it runs in one process, and sometimes in two at once. */
  tickFrom(at: number): void {
    this.#schedule.at(at, () => {
      const copies = this.#schedule.dice.chance(0.3) ? 2 : 1;
      for (let copy = 0; copy < copies; copy += 1) this.#tickOn(this.awake());
      this.tickFrom(at + TICK_MS);
    });
  }

  /** An error of a use case. It is a defect unless it is a PortError: a fault explains those. */
  noteError(error: unknown): void {
    if (error instanceof PortError || error instanceof Contended) return;
    this.#trace("DEFECT", () => (error instanceof Error ? (error.stack ?? error.message) : String(error)));
    this.#defects.push(String(error));
  }

  #tickOn(instance: Instance | undefined): void {
    instance?.invoke(
      "tick",
      () => tickAll(instance.app),
      (how) => {
        if (how.kind === "threw") this.noteError(how.error);
        if (how.kind !== "returned") return;
        for (const { outcome } of how.result) {
          if (outcome.kind === "failed" && !/no answer|missing from storage/.test(outcome.message))
            this.noteError(outcome.message);
        }
      },
    );
  }
}
