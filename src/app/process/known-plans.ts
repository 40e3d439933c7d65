/** The highest plan number of a cluster that this process knows. Plan numbers only rise. */
export class KnownPlans {
  #highest = 0;
  #isComplete = false;

  get highest(): number {
    return this.#highest;
  }

  /** Whether history and plan archive have been read. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  note(plan: number): void {
    this.#highest = Math.max(this.#highest, plan);
  }

  /** `plan` is the highest of history and archive. */
  complete(plan: number): void {
    this.note(plan);
    this.#isComplete = true;
  }
}
