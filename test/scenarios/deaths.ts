import type { Send } from "./stage-options.ts";

/** The requests at which a process dies: before it is sent, or after, so that its answer is lost. */
export function deathsUpTo(requests: number) {
  return Array.from({ length: requests }, (_, i) => i + 1).flatMap((number) =>
    (["before", "after"] as const).map((when) => ({ number, when })),
  );
}

/** Stands between the app and CycleCloud. Once armed, the sender of the request of that number gets no answer and does nothing more. */
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
