import type http from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import type { Milliseconds } from "../../domain/units.ts";

const MIB = 1024 * 1024;
/** A body below this needs no room: slow large ones cannot keep it out. */
const SMALL = 64 * 1024;
/** Of all other bodies together that have not arrived completely, or wait for their answer. */
const ROOM = 100 * MIB;
/** A body without a length takes as much as the largest. */
const LARGEST = 34 * MIB;
const ARRIVES_WITHIN_MS: Milliseconds = 20_000;

export type Arrived =
  /** `done`: call it when the request has its answer. */
  | { readonly kind: "body"; readonly body: Buffer; readonly done: () => void }
  /** Too long; too slow; or others take all the room. */
  | { readonly kind: "refused"; readonly status: 413 | 408 | 503 };

/** Takes in the bodies of requests, within one room for all large ones (docs/protocol.md, Memory). */
export class BodyArrivals {
  #free = ROOM;
  readonly #waiting = new Set<(how: "freed") => void>();

  /** `most`: bytes that the body may have. A longer one is thrown away as it comes, because its sender waits until it is sent. */
  async receive(incoming: http.IncomingMessage, most: number): Promise<Arrived> {
    const over = new AbortController();
    const late = pause(ARRIVES_WITHIN_MS, "late" as const, { signal: over.signal, ref: false });
    // The body has arrived.
    const tooLate = late.catch(() => "late" as const);
    try {
      const room = roomFor(incoming, most);
      while (this.#free < room)
        if ((await this.#untilFreed(tooLate)) === "late") return { kind: "refused", status: 503 };
      this.#free -= room;
      const body = await Promise.race([readBody(incoming, most), tooLate]);
      const done = (): void => {
        this.#free += room;
        for (const wake of this.#waiting) wake("freed");
      };
      if (Buffer.isBuffer(body)) return { kind: "body", body, done };
      done();
      return { kind: "refused", status: body === "late" ? 408 : 413 };
    } finally {
      over.abort();
    }
  }

  async #untilFreed(tooLate: Promise<"late">): Promise<"freed" | "late"> {
    const freed = Promise.withResolvers<"freed">();
    this.#waiting.add(freed.resolve);
    const how = await Promise.race([freed.promise, tooLate]);
    this.#waiting.delete(freed.resolve);
    return how;
  }
}

function roomFor({ headers }: http.IncomingMessage, most: number): number {
  const said = headers["content-length"];
  // Bodies in pieces say no length. Requests without a body say neither.
  const bytes =
    said === undefined ? (headers["transfer-encoding"] === undefined ? 0 : LARGEST) : Number(said);
  return bytes < SMALL ? 0 : Math.min(bytes, most, LARGEST);
}

async function readBody(incoming: http.IncomingMessage, most: number): Promise<Buffer | "too-long"> {
  let chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of incoming) {
    size += Buffer.byteLength(chunk);
    if (size > most) chunks = [];
    else chunks.push(chunk);
  }
  return size > most ? "too-long" : Buffer.concat(chunks);
}
