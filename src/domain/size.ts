/**
 * Amounts of memory or disk with their unit (scalelib.md 1). The unit is kept because it determines the unit of results and of plain
 * numbers. All arithmetic is in bytes, as 64-bit floats. "Memory" and "size" mean the same.
 */
export interface Size {
  readonly amount: number;
  readonly unit: SizeUnit;
}

/** Bytes of each unit: lower case powers of 1024, upper case powers of 1000. There is no B. */
const FACTORS = {
  b: 1,
  k: 1024,
  m: 1024 ** 2,
  g: 1024 ** 3,
  t: 1024 ** 4,
  p: 1024 ** 5,
  K: 1000,
  M: 1000 ** 2,
  G: 1000 ** 3,
  T: 1000 ** 4,
  P: 1000 ** 5,
} as const;

export type SizeUnit = keyof typeof FACTORS;

/** Why a text is not a size. */
type SizeFault = "too-long" | "empty" | "only-letters" | "no-number" | "unknown-unit";

/** Characters of a size, with its prefix. A number in full has at most 24, so what {@link sizeJson} writes is always shorter. */
const LONGEST_SIZE = 64;

function isSizeUnit(text: string): text is SizeUnit {
  return Object.hasOwn(FACTORS, text);
}

export function isSize(value: unknown): value is Size {
  return typeof value === "object" && value !== null && "amount" in value && "unit" in value;
}

/** A decimal number: sign, point, exponent, and single underscores between digits. */
const NUMBER = /^[+-]?(?:\d+(?:_\d+)*(?:\.(?:\d+(?:_\d+)*)?)?|\.\d+(?:_\d+)*)(?:[eE][+-]?\d+(?:_\d+)*)?$/;

const LETTER = /[A-Za-z]/;

/**
 * Reads a size as scalelib does. Everything before the last ":" is ignored. Letters at the end are the unit (default: bytes), the rest is a
 * number. "4gb" is no size, because gb is no unit. Numbers that are not finite are no sizes either, nor texts of more than
 * {@link LONGEST_SIZE} characters.
 */
export function parseSize(text: string): Size | SizeFault {
  if (text.length > LONGEST_SIZE) return "too-long";
  const own = text.slice(text.lastIndexOf(":") + 1);
  if (own === "") return "empty";
  let end = own.length;
  while (end > 0 && LETTER.test(own.charAt(end - 1))) end -= 1;
  const digits = own.slice(0, end).trim();
  const unit = end === own.length ? "b" : own.slice(end);
  if (digits === "") return "only-letters";
  if (!isSizeUnit(unit)) return "unknown-unit";
  if (!NUMBER.test(digits)) return "no-number";
  const amount = Number(digits.replaceAll("_", ""));
  return Number.isFinite(amount * FACTORS[unit]) ? { amount, unit } : "no-number";
}

/** True for a text whose prefix marks it as a size: "memory::4g", "size::1.5T". Anything else is plain text, also "memory::-4g". */
export function looksLikeSize(text: string): boolean {
  return /^(?:size|memory)::[A-Za-z0-9]/.test(text);
}

/** The size in bytes. */
export function bytesOf(size: Size): number {
  return size.amount * FACTORS[size.unit];
}

/** Number of bytes in one unit. */
export function bytesPer(unit: SizeUnit): number {
  return FACTORS[unit];
}

/** The same size in another unit. */
export function convertSize(size: Size, unit: SizeUnit): Size {
  return size.unit === unit ? size : { amount: bytesOf(size) / FACTORS[unit], unit };
}

/** A plain number counts as bytes. The result has the unit of the left operand, here and in the functions below. */
export function addSize(left: Size, right: Size | number): Size {
  return { amount: (bytesOf(left) + bytesOrNumber(right)) / FACTORS[left.unit], unit: left.unit };
}

/** The result may be negative. */
export function subtractSize(left: Size, right: Size | number): Size {
  return { amount: (bytesOf(left) - bytesOrNumber(right)) / FACTORS[left.unit], unit: left.unit };
}

/** By a number; another size counts as its bytes. */
export function multiplySize(left: Size, right: Size | number): Size {
  return { amount: (bytesOf(left) * bytesOrNumber(right)) / FACTORS[left.unit], unit: left.unit };
}

/** By a number, or the ratio to another size. Undefined if the divisor is zero. */
export function divideSize(left: Size, right: Size | number): Size | undefined {
  const by = divisor(left, right);
  return by === 0 ? undefined : { amount: left.amount / by, unit: left.unit };
}

/** {@link divideSize}, rounded down. */
export function divideSizeFloor(left: Size, right: Size | number): Size | undefined {
  const by = divisor(left, right);
  return by === 0 ? undefined : { amount: Math.floor(left.amount / by), unit: left.unit };
}

/** By bytes, strictly. */
export function isLess(left: Size | number, right: Size | number): boolean {
  return bytesOrNumber(left) < bytesOrNumber(right);
}

function bytesOrNumber(value: Size | number): number {
  return typeof value === "number" ? value : bytesOf(value);
}

function divisor(left: Size, right: Size | number): number {
  return typeof right === "number" ? right : convertSize(right, left.unit).amount;
}

/** For users: two decimals. Halves of the exact value are rounded to even, as in "0.12g". */
export function sizeText({ amount, unit }: Size): string {
  return `${roundTwo(amount)}${unit}`;
}

/** In full, as written in JSON: "memory::4g". Nothing is lost, unlike in scalelib (defect 41). */
export function sizeJson({ amount, unit }: Size): string {
  return `memory::${amount}${unit}`;
}

/** toFixed rounds the exact value and halves upwards. Only an exact half must be rounded to even. */
function roundTwo(amount: number): string {
  const eighths = amount * 8;
  const isExactHalf = Number.isInteger(eighths) && Math.abs(eighths) % 2 === 1;
  if (!isExactHalf) return amount.toFixed(2);
  // Thousandths of an eighth end in 5: x.125 and x.625 go down, x.375 and x.875 up.
  const down = Math.abs(eighths) % 4 === 1;
  const cents = Math.trunc(Math.abs(amount) * 100) + (down ? 0 : 1);
  return `${amount < 0 ? "-" : ""}${(cents / 100).toFixed(2)}`;
}
