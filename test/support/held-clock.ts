import type { Clock } from "../../src/app/ports/clock.ts";
import { instant } from "../../src/domain/units.ts";

/** A clock whose sleeps end when a test says so. */
export class HeldClock implements Clock {
  readonly sleeping: { readonly milliseconds: number; readonly wake: () => void }[] = [];

  now = () => instant(0);

  sleep = (milliseconds: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      this.sleeping.push({ milliseconds, wake: resolve });
      signal?.addEventListener("abort", () => resolve());
    });

  /** Ends the sleeps of this length. */
  end(milliseconds: number): void {
    for (const one of this.sleeping) if (one.milliseconds === milliseconds) one.wake();
  }
}
