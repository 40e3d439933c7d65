import { Crew } from "./crew.ts";
import { inputsOf } from "./generate.ts";
import type { Door, Fault, Inputs } from "./input.ts";
import { isDoor } from "./input.ts";
import { memberOf } from "./judge.ts";
import { shrink } from "./shrink.ts";

/** A seed whose inputs the app did not meet as it should, cut down. */
export interface Failure {
  readonly door: Door;
  readonly seed: number;
  readonly fault: Fault;
  readonly shrunk: Inputs;
}

/** Plays of one failure while it is cut down. */
const MOST_TRIES = 250;
/** Of those that take a minute each to be seen. */
const FEW_TRIES = 4;

/** The same seed is always played on the same stores: one in four, and all rows, on tables. */
export function storesFor(door: Door, seed: number): "memory" | "tables" {
  return door === "rows" || seed % 4 === 0 ? "tables" : "memory";
}

/** Plays the inputs of one seed. Undefined: the app met them as it should, or failed in a way that is known. */
export async function tryOne(
  crew: Crew,
  door: Door,
  seed: number,
  isKnown: (kind: string) => boolean = () => false,
): Promise<Failure | undefined> {
  const inputs = inputsOf(door, seed);
  const stores = storesFor(door, seed);
  const fault = (await crew.play(inputs, stores)).find(({ kind }) => !isKnown(kind));
  if (fault === undefined) return undefined;
  const again = async (candidate: unknown): Promise<boolean> => {
    const read = readInputs(candidate, inputs);
    if (read === undefined) return false;
    return (await crew.play(read, stores)).some(({ kind }) => kind === fault.kind);
  };
  const takesLong = fault.kind === "hangs" || fault.kind.startsWith("slow");
  const tries = takesLong ? FEW_TRIES : isOfValidInput(fault) ? 0 : MOST_TRIES;
  // Only what is inside of the inputs is cut down, and how many there are.
  const start = inputs.map(({ how, document }) => ({ how, document }));
  const shrunk = readInputs(await shrink(start, again, tries), inputs) ?? inputs;
  return { door, seed, fault, shrunk };
}

/** A part of it may well be refused, for another reason. */
const isOfValidInput = ({ kind }: Fault): boolean => kind.startsWith("refused within");

/** Undefined: cutting down has left out what makes it an input. */
function readInputs(value: unknown, of: Inputs): Inputs | undefined {
  const door = of[0]?.door;
  if (!Array.isArray(value) || value.length === 0 || door === undefined) return undefined;
  const known = new Set(of.map(({ how }) => how));
  const inputs = value.flatMap((one: unknown): Inputs => {
    const how = memberOf(one, "how");
    return typeof how === "string" && known.has(how)
      ? [{ door, how, document: memberOf(one, "document") }]
      : [];
  });
  return inputs.length === value.length ? inputs : undefined;
}

const MOST_SHOWN = 3000;

/** What failed, how it can be seen again, and what it takes. */
export function describe({ door, seed, fault, shrunk }: Failure): string {
  const text = JSON.stringify(shrunk.map(({ how, document }) => ({ how, document })));
  return [
    `${door} ${seed}: ${fault.kind}`,
    `  ${fault.what}`,
    `  alone: node test/fuzz/main.ts ${door} ${seed}`,
    `  input: ${text.slice(0, MOST_SHOWN)}${text.length > MOST_SHOWN ? `... (${text.length} characters)` : ""}`,
  ].join("\n");
}

export function readDoor(text: string): Door {
  if (!isDoor(text)) throw new Error(`no door is called ${text}`);
  return text;
}
