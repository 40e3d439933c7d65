import { crc32, deflateRawSync } from "node:zlib";

/** A file of an archive. */
export interface ZipEntry {
  /** Relative, with forward slashes, in ASCII. */
  readonly name: string;
  readonly content: Uint8Array;
}

/** 1980-01-01 00:00, the first time in this format. It is constant, so that the same files give the same archive. */
const DATE = (1 << 5) | 1;
const TIME = 0;
const DEFLATE = 8;
/** 2.0: files that are deflated. */
const VERSION = 20;
/** Made on Unix, whose mode of the file is in the high half of the attributes. */
const MADE_BY = (3 << 8) | VERSION;
const REGULAR_FILE = 0o100644;

/**
 * A ZIP archive (PKWARE's APPNOTE 6.3) of files in this order. The same entries give the same bytes with the same release of Node. No
 * dependency writes ZIP, and `zip` puts times into the archive. It must be below 65,536 files and 4 GiB.
 */
export function zip(entries: readonly ZipEntry[]): Uint8Array {
  const files: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, content } of entries) {
    const packed = deflateRawSync(content, { level: 9 });
    const common = describe(name, content, packed);
    const file = Buffer.concat([uint32(0x04034b50), common, Buffer.from(name), packed]);
    directory.push(
      // No comment, first disk, no internal attributes.
      Buffer.concat([uint32(0x02014b50), uint16(MADE_BY), common, uint16(0, 0, 0)]),
      Buffer.concat([uint32(REGULAR_FILE * 0x10000, offset), Buffer.from(name)]),
    );
    files.push(file);
    offset += file.byteLength;
  }
  const listed = Buffer.concat(directory);
  const count = entries.length;
  const end = [uint32(0x06054b50), uint16(0, 0, count, count), uint32(listed.byteLength, offset), uint16(0)];
  return Buffer.concat([...files, listed, ...end]);
}

/** The part that a file's header and its directory entry share: version, flags, method, time, date, checksum, sizes, lengths of name and extra. */
function describe(name: string, content: Uint8Array, packed: Uint8Array): Buffer {
  return Buffer.concat([
    uint16(VERSION, 0, DEFLATE, TIME, DATE),
    uint32(crc32(content), packed.byteLength, content.byteLength),
    uint16(name.length, 0),
  ]);
}

function uint16(...values: readonly number[]): Buffer {
  return Buffer.concat(values.map((value) => Buffer.from([value & 0xff, value >>> 8])));
}

function uint32(...values: readonly number[]): Buffer {
  return Buffer.concat(
    values.map((value) => {
      const bytes = Buffer.alloc(4);
      bytes.writeUInt32LE(value);
      return bytes;
    }),
  );
}
