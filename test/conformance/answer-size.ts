import type { Size } from "../../src/domain/size.ts";
import {
  addSize,
  bytesOf,
  convertSize,
  divideSize,
  divideSizeFloor,
  isLess,
  isSize,
  multiplySize,
  parseSize,
  sizeJson,
  sizeText,
  subtractSize,
} from "../../src/domain/size.ts";
import type { Json } from "./compare.ts";
import { textOf } from "./compare.ts";
import type { VectorCase } from "./vector-case.ts";

/** The library's exception for what is an answer here. */
const FAULTS = {
  empty: "RuntimeError",
  "only-letters": "IndexError",
  "no-number": "ValueError",
  "unknown-unit": "RuntimeError",
  "too-long": "ValueError",
} as const;

const raises = (exception: string): Json => ({ raises: exception });

/** A size or a plain number as the vectors give them; a number counts as bytes where a size is wanted. */
function readSize(value: Json | undefined): Size | keyof typeof FAULTS | undefined {
  if (typeof value === "number" || typeof value === "boolean") return { amount: Number(value), unit: "b" };
  return typeof value === "string" ? parseSize(value) : undefined;
}

function show(size: Size, kind: string): Json {
  return {
    kind,
    value: size.amount,
    magnitude: size.unit,
    bytes: bytesOf(size),
    text: sizeText(size),
    json: sizeJson(size).replace(/^memory/, kind),
  };
}

export function answerParse({ input }: VectorCase): Json {
  const size = readSize(input["value"]);
  if (size === undefined) return raises("RuntimeError");
  return typeof size === "string" ? raises(FAULTS[size]) : show(size, textOf(input["kind"]));
}

export function answerConvert({ input }: VectorCase): Json {
  const size = readSize(input["value"]);
  const unit = parseSize(`1${textOf(input["to"])}`);
  if (!isSize(unit)) return raises("KeyError");
  if (size === undefined || typeof size === "string") return raises("RuntimeError");
  return show(convertSize(size, unit.unit), textOf(input["kind"]));
}

export function answerArithmetic({ input }: VectorCase): Json {
  const { left, right, op } = input;
  const size = typeof left === "string" ? readSize(left) : undefined;
  const other = typeof right === "number" ? right : readSize(right);
  if (size === undefined || typeof size === "string" || other === undefined || typeof other === "string")
    return raises("TypeError");
  if (op === "count") {
    const whole = divideSizeFloor(size, other);
    return whole === undefined ? raises("ZeroDivisionError") : Math.trunc(whole.amount);
  }
  const result = reckon(textOf(op), size, other);
  return result === undefined ? raises("ZeroDivisionError") : show(result, "size");
}

function reckon(op: string, left: Size, right: Size | number): Size | undefined {
  switch (op) {
    case "add":
      return addSize(left, right);
    case "subtract":
      return subtractSize(left, right);
    case "multiply":
      return multiplySize(left, right);
    case "divide":
      return divideSize(left, right);
    case "divide_floor":
      return divideSizeFloor(left, right);
    default:
      throw new Error(`no such operation: ${op}`);
  }
}

export function answerCompare({ input }: VectorCase): Json {
  const [left, right] = [input["left"], input["right"]].map((value) => readSize(value));
  if (left === undefined || right === undefined || typeof left === "string" || typeof right === "string")
    return raises("TypeError");
  const [less, equal] = [isLess(left, right), equalSizes(left, right)];
  switch (input["op"]) {
    case "lt":
      return less;
    case "le":
      return less || equal;
    case "eq":
      return equal;
    case "ne":
      return !equal;
    case "ge":
      return isLess(right, left) || equal;
    case "gt":
      return isLess(right, left);
    default:
      throw new Error(`no such comparison: ${textOf(input["op"])}`);
  }
}

/** Sizes that differ by less than this many bytes are equal. */
const SAME_BYTES = 1e-10;

/** Whether both have the same number of bytes. A plain number counts as bytes. */
export function equalSizes(left: Size | number, right: Size | number): boolean {
  const [one = 0, other = 0] = [left, right].map((size) => (typeof size === "number" ? size : bytesOf(size)));
  return Math.abs(one - other) < SAME_BYTES;
}
