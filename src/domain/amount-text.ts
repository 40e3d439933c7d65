import type { SizeUnit } from "./size.ts";
import { bytesPer } from "./size.ts";

/** The unit of a number that is not a plain count. Bytes are shown in a readable unit. */
export type AmountUnit = "bytes";

const STEPS: readonly { readonly name: string; readonly bytes: number }[] = [
  { name: "TiB", bytes: 1024 ** 4 },
  { name: "GiB", bytes: 1024 ** 3 },
  { name: "MiB", bytes: 1024 ** 2 },
  { name: "KiB", bytes: 1024 },
];

/** An amount for users: "64.0 GiB", or the number itself. More decimals than `digits` ask for are used if fewer would hide a difference. */
export function amountText(amount: number, unit?: AmountUnit, digits = 1): string {
  if (unit === undefined) return String(roundOff(amount));
  const step = STEPS.find(({ bytes }) => Math.abs(amount) >= bytes);
  return step === undefined
    ? `${roundOff(amount)} bytes`
    : `${(amount / step.bytes).toFixed(digits)} ${step.name}`;
}

/** Two different amounts, as texts that differ. */
export function amountTexts(a: number, b: number, unit?: AmountUnit): readonly [string, string] {
  for (const digits of [1, 3]) {
    const texts = [amountText(a, unit, digits), amountText(b, unit, digits)] as const;
    if (texts[0] !== texts[1]) return texts;
  }
  return unit === undefined ? [String(a), String(b)] : [`${roundOff(a)} ${unit}`, `${roundOff(b)} ${unit}`];
}

/** The unit of a size as amounts are shown: "GiB" for g. Powers of 1000 keep their letter. */
export function unitName(unit: SizeUnit): string {
  return STEPS.find(({ bytes }) => bytes === bytesPer(unit))?.name ?? (unit === "b" ? "bytes" : unit);
}

/** Sums of tenths have long fractions; 17 digits are unreadable. */
function roundOff(amount: number): number {
  return Number(amount.toPrecision(12));
}
