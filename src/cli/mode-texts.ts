import type { StateAnswer } from "../client/state.ts";

/** The mode of each node array as text. Empty if no array is in mode observe, or if an older app answers. */
export function modeTexts({ nodearrays }: Pick<StateAnswer, "nodearrays">): readonly string[] {
  const ours = nodearrays.filter(({ managed }) => managed !== false);
  const namesIn = (wanted: string) =>
    ours.flatMap(({ name, mode }) => (mode === wanted ? [name ?? "?"] : []));
  const observed = namesIn("observe");
  if (observed.length === 0) return [];
  const acting = namesIn("act");
  const observing = modesText(observed, "observing only");
  return acting.length === 0 ? [observing] : [observing, modesText(acting, "acting")];
}

const modesText = (arrays: readonly string[], mode: string): string =>
  `${arrays.length === 1 ? "array" : "arrays"} ${arrays.join(", ")}: ${mode}`;
