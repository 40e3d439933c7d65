/** Smaller values, the smallest first: fewer members, shorter lists and texts, simpler numbers. */
export function* smaller(value: unknown): Generator {
  if (Array.isArray(value)) yield* smallerList(value);
  else if (typeof value === "object" && value !== null) yield* smallerObject(Object.entries(value));
  else if (typeof value === "string") yield* smallerText(value);
  else if (typeof value === "number") yield* smallerNumber(value);
}

function* smallerList(items: readonly unknown[]): Generator {
  for (const kept of fewer(items)) yield kept;
  for (const [index, item] of items.entries()) {
    if (index > 20) return;
    for (const less of smaller(item)) yield items.with(index, less);
  }
}

function* smallerObject(entries: readonly (readonly [string, unknown])[]): Generator {
  for (const kept of fewer(entries)) yield Object.fromEntries(kept);
  for (const [index, [key, value]] of entries.entries()) {
    if (index > 30) return;
    for (const less of smaller(value)) yield Object.fromEntries(entries.with(index, [key, less]));
  }
}

/** Without all, each half, each quarter, ... each one. */
function* fewer<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let size = items.length; size >= 1; size = Math.floor(size / 2))
    for (let from = 0; from < items.length; from += size)
      yield [...items.slice(0, from), ...items.slice(from + size)];
}

function* smallerText(text: string): Generator<string> {
  if (text === "") return;
  yield "";
  if (text.length > 1) yield "a";
  for (let size = Math.ceil(text.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    yield text.slice(0, text.length - size);
    yield text.slice(size);
  }
}

function* smallerNumber(value: number): Generator<number> {
  for (const less of [0, 1, Math.trunc(value), Math.trunc(value / 2), Math.trunc(value / 1000)])
    if (less !== value && Math.abs(less) <= Math.abs(value)) yield less;
}

/**
 * The smallest value found that still fails, by one step after the other; `most` tries at most. `fails` must say whether a value fails in
 * the same way.
 */
export async function shrink(
  value: unknown,
  fails: (value: unknown) => Promise<boolean>,
  most: number,
): Promise<unknown> {
  let best = value;
  for (let tries = 0; ;) {
    let next: { readonly value: unknown } | undefined;
    for (const candidate of smaller(best)) {
      if (tries >= most) return best;
      tries += 1;
      if (!(await fails(candidate))) continue;
      next = { value: candidate };
      break;
    }
    if (next === undefined) return best;
    best = next.value;
  }
}
