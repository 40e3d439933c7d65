import type { BodyCodec } from "../../src/adapters/tables/codec.ts";

/** The text of a stored body. */
export function storedText<T>(codec: BodyCodec<T>, value: T): string {
  return JSON.stringify(codec.write(value));
}
