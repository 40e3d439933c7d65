import type { Json } from "../compare.ts";
import { isList, isObject, UNITS } from "../compare.ts";

/** Values of resources and properties, as the engine has them (the documentation's sizes, amounts, marks). */

export interface Size {
  readonly amount: number;
  readonly unit: string;
}

export type Value = null | boolean | number | string | Size;
export type Values = Readonly<Record<string, Value>>;

/** A case of which no sense can be made: the library stops with an exception, the app names the problem. */
export class Refused extends Error {}

const CLOSE = 1e-9;
const SAME = 1e-12;

export const isSize = (value: unknown): value is Size => typeof value === "object" && value !== null;
export const bytesPer = ({ unit }: Size): number => UNITS[unit] ?? Number.NaN;
export const bytesOf = (size: Size): number => size.amount * bytesPer(size);

/** What is counted: a size in bytes; true is 1. Undefined: a mark, of which nothing can be taken. */
export function countOf(value: Value | undefined): number | undefined {
  if (isSize(value)) return bytesOf(value);
  if (typeof value === "boolean") return Number(value);
  return typeof value === "number" ? value : undefined;
}

/** At least as much, but for what binary fractions lose. */
export const isEnough = (has: number, asked: number): boolean => has >= asked - Math.abs(asked) * CLOSE;

/** How many times an amount is in another one. */
export const timesIn = (has: number, one: number): number =>
  one === 0 ? Number.POSITIVE_INFINITY : Math.floor(has / one + CLOSE);

/** Whether a text is an amount where a constraint may have either. */
export const looksLikeSize = (text: string): boolean => /^(?:size|memory)::[a-z0-9]/i.test(text);

/** Everything before the last colon is thrown away. Undefined: no size. */
export function readSize(text: string): Size | undefined {
  const [, number = "", letters = ""] =
    /^(.*?)([a-zA-Z]*)$/.exec(text.slice(text.lastIndexOf(":") + 1)) ?? [];
  const unit = letters === "" ? "b" : letters;
  const amount = Number(number.trim().replaceAll(/(?<=\d)_(?=\d)/g, ""));
  return number.trim() === "" || Number.isNaN(amount) || UNITS[unit] === undefined
    ? undefined
    : { amount, unit };
}

/** As what a resource is: a text that looks like a size is one. */
export function readValue(value: Json): Value {
  if (isList(value) || isObject(value)) throw new Refused("a resource is a single value");
  return typeof value === "string" && looksLikeSize(value) ? (readSize(value) ?? value) : value;
}

export const showValue = (value: Value): Json =>
  isSize(value) ? `size::${value.amount}${value.unit}` : value;

export function isSameValue(a: Value | undefined, b: Value | undefined): boolean {
  const [left, right] = [countOf(a), countOf(b)];
  if (left === undefined || right === undefined) return a === b;
  return Math.abs(left - right) <= SAME * Math.max(Math.abs(left), Math.abs(right));
}

/** The position of the first option that the value is: texts by shell pattern, all else by what it counts. Below 0: none. */
export function choiceOf(value: Value, options: readonly Value[]): number {
  return options.findIndex((option) => {
    if (typeof option === "string" && typeof value === "string") return isMatch(option, value);
    if (isSize(value) && typeof option === "string") return isSameValue(value, readSize(option));
    if (isSize(value) && value.amount === option) return true;
    return isSameValue(value, option);
  });
}

/** `*`, `?`, `[ab]`, `[a-z]` and `[!a]`; everything else is itself. */
function isMatch(pattern: string, text: string): boolean {
  if (!/[*?[]/.test(pattern)) return pattern === text;
  const source = pattern.replaceAll(/\[!?[^\]]+\]|[\s\S]/g, (part) => {
    if (part === "*") return "[\\s\\S]*";
    if (part === "?") return "[\\s\\S]";
    if (part.length > 1) return part.replace("[!", "[^");
    return part.replaceAll(/[.+^${}()|[\]\\]/g, String.raw`\$&`);
  });
  return new RegExp(`^${source}$`, "u").test(text);
}
