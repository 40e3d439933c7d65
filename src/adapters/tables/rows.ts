/**
 * Bytes in rows. A property holds at most 64 KiB and a row 1 MiB; the emulator counts base64, so a row gets at most 700 KiB, in chunks of
 * 60 KiB (architecture.md, Storage).
 */
const CHUNK_BYTES = 60 * 1024;
export const ROW_BYTES = 700 * 1024;

/** Number of rows for a number of bytes. */
export function rowsFor(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / ROW_BYTES));
}

/** The part of the bytes in row number `part`. */
export function partOf(bytes: Uint8Array, part: number): Uint8Array {
  return bytes.subarray(part * ROW_BYTES, (part + 1) * ROW_BYTES);
}

/** At most {@link ROW_BYTES} as Binary properties d0, d1, ... */
export function chunkProperties(bytes: Uint8Array): Readonly<Record<string, Uint8Array>> {
  const properties: Record<string, Uint8Array> = {};
  for (let start = 0; start < bytes.length; start += CHUNK_BYTES) {
    properties[`d${start / CHUNK_BYTES}`] = bytes.subarray(start, start + CHUNK_BYTES);
  }
  return properties;
}

/** The bytes of a row, from its Binary properties. */
export function joinChunks(row: Readonly<Record<string, unknown>>): Buffer {
  const chunks: Uint8Array[] = [];
  for (let number = 0; ; number++) {
    const chunk = row[`d${number}`];
    if (!(chunk instanceof Uint8Array)) return Buffer.concat(chunks);
    chunks.push(chunk);
  }
}
