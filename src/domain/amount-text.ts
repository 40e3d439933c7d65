/** What a number counts, where it is not simply so many: bytes are shown in the unit that people read. */
export type AmountUnit = "bytes";

const STEPS: readonly { readonly name: string; readonly bytes: number }[] = [
  { name: "TiB", bytes: 1024 ** 4 },
  { name: "GiB", bytes: 1024 ** 3 },
  { name: "MiB", bytes: 1024 ** 2 },
  { name: "KiB", bytes: 1024 },
];

/** An amount for people: "64.0 GiB", or the number itself; more decimals where one would hide a difference that `digits` asks to show. */
export function amountText(amount: number, unit?: AmountUnit, digits = 1): string {
  if (unit === undefined) return String(roundOff(amount));
  const step = STEPS.find(({ bytes }) => Math.abs(amount) >= bytes);
  return step === undefined
    ? `${roundOff(amount)} bytes`
    : `${(amount / step.bytes).toFixed(digits)} ${step.name}`;
}

/** Two amounts that differ, as texts that do. */
export function amountTexts(a: number, b: number, unit?: AmountUnit): readonly [string, string] {
  for (const digits of [1, 3]) {
    const texts = [amountText(a, unit, digits), amountText(b, unit, digits)] as const;
    if (texts[0] !== texts[1]) return texts;
  }
  return unit === undefined ? [String(a), String(b)] : [`${roundOff(a)} ${unit}`, `${roundOff(b)} ${unit}`];
}

/** Fractions come from adding up tenths; nobody wants to read seventeen digits. */
function roundOff(amount: number): number {
  return Number(amount.toPrecision(12));
}
