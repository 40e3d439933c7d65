import type { Send } from "./stage-options.ts";

/** The moments at which a process dies: before its request of a number is sent, or after, when its answer reaches nobody. */
export function deathsUpTo(requests: number) {
  return Array.from({ length: requests }, (_, i) => i + 1).flatMap((number) =>
    (["before", "after"] as const).map((when) => ({ number, when })),
  );
}

/** Between the app and CycleCloud: once armed, whoever makes the request of that number from then on is gone. */
export class Death {
  #left = Number.POSITIVE_INFINITY;
  readonly #at: ReturnType<typeof deathsUpTo>[number];

  constructor(at: ReturnType<typeof deathsUpTo>[number]) {
    this.#at = at;
  }

  arm(): void {
    this.#left = this.#at.number;
  }

  readonly between =
    (send: Send): Send =>
    (request) => {
      this.#left -= 1;
      if (this.#left !== 0) return send(request);
      if (this.#at.when === "after") void send(request);
      return new Promise(() => undefined);
    };
}
