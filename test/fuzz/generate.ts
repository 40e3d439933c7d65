import { BOUNDS } from "../../src/wire/json/bounds.ts";
import { isDeeperThan } from "../../src/wire/json/fields.ts";
import { Dice } from "../simulation/dice.ts";
import { boundInputs } from "./bounds.ts";
import { anyConfig, anyConstraint, anyMessage, anySettings, anyWhatIf, extremeMessage } from "./documents.ts";
import { edgeNumber, edgeScalar, edgeText, edgeValue } from "./edges.ts";
import { distort } from "./edit.ts";
import type { Door, Input, Inputs } from "./input.ts";
import { DOORS } from "./input.ts";
import { longInput } from "./long.ts";
import { anyRequest } from "./requests.ts";

/** Ways to pack a queue message, or a body. */
export const PACKINGS = ["json", "base64", "gzip"] as const;

/** It stays as it is when a door is added, so that the seeds that tests name keep their inputs. */
const SEEDS_APART = 10;

/** The inputs of a seed: the same seed of the same door always gives the same. */
export function inputsOf(door: Door, seed: number): Inputs {
  const dice = new Dice(seed * SEEDS_APART + DOORS.indexOf(door));
  if (door === "bound") return boundInputs(seed, dice).map((input) => ({ door, ...input }));
  return Array.from({ length: dice.pick([1, 1, 2, 3]) }, () => ({ door, ...drawn(door, dice) }));
}

type Drawn = Pick<Input, "how" | "document">;

function drawn(door: Exclude<Door, "bound">, dice: Dice): Drawn {
  switch (door) {
    case "message":
    case "poison":
      return anyPacked(dice, dice.chance(0.1) ? anyWake(dice) : mostlyValid(dice, anyDemand(dice)));
    case "put":
      return anyPacked(dice, mostlyValid(dice, anyDemand(dice)));
    case "constraint":
      return { how: "json", document: mostlyValid(dice, jobsWith(dice)) };
    case "plan":
      return anyPacked(dice, mostlyValid(dice, anyWhatIf(dice)));
    case "config":
      return { how: dice.chance(0.95) ? "json" : "cut", document: mostlyValid(dice, anyConfig(dice)) };
    case "request":
      return { how: "json", document: anyRequest(dice) };
    case "settings":
      return { how: "json", document: mostlyValid(dice, anySettings(dice)) };
    case "cyclecloud":
      return { how: dice.pick(["status", "status", "any"]), document: anyEdits(dice) };
    case "rows":
      return dice.chance(0.7)
        ? { how: "grown", document: anyGrowth(dice) }
        : { how: dice.pick(["older", "damaged", "damaged"]), document: anyEdits(dice) };
    case "long":
      return longInput(dice);
  }
}

function mostlyValid(dice: Dice, document: unknown): unknown {
  return dice.chance(0.12) ? document : distort(dice, document);
}

function anyDemand(dice: Dice): unknown {
  return dice.chance(0.25) ? extremeMessage(dice) : anyMessage(dice);
}

/** How it is packed, and sometimes what is no JSON at all. */
function anyPacked(dice: Dice, document: unknown): Drawn {
  if (dice.chance(0.03)) return { how: "text", document: edgeText(dice) };
  if (dice.chance(0.03)) return { how: "json", document: edgeValue(dice, undefined) };
  return { how: dice.chance(0.04) ? dice.pick(["cut", "mark", "twice"]) : dice.pick(PACKINGS), document };
}

function anyWake(dice: Dice): unknown {
  const wake = { version: 1, cluster: "@cluster", wake: true, at: 1_767_225_600_000 };
  return dice.chance(0.5) ? { ...wake, at: edgeNumber(dice) } : distort(dice, wake);
}

/** Two jobs, so that one that cannot be read has another beside it. */
function jobsWith(dice: Dice): unknown {
  const constraints = [anyConstraint(dice, 5), anyConstraint(dice)];
  const job = { name: "j", iterations: dice.pick([1, 3, 50]), constraints };
  return {
    pools: [
      { name: "licence", total: 4, used: 1 },
      { name: "shift", value: edgeScalar(dice) },
    ],
    jobs: [job, { name: "beside", constraints: [{ ncpus: 1 }] }],
  };
}

/**
 * Changes of a document that is known only when it is there: each names a place by a fraction of all places. `value` absent: the place is
 * left out.
 */
function anyEdits(dice: Dice): unknown {
  return Array.from({ length: dice.pick([1, 1, 2, 3, 6]) }, () => ({
    nth: dice.whole(0, 3),
    at: dice.fraction(),
    ...(dice.chance(0.15) ? {} : { value: edgeValue(dice, dice.pick<unknown>([1, "text", [{}], {}, true])) }),
    ...(dice.chance(0.1) ? { key: edgeText(dice) } : {}),
    ...(dice.chance(0.08) ? { status: dice.pick([200, 204, 302, 401, 404, 409, 429, 500, 503]) } : {}),
  }));
}

/** Members that a newer release may have added, anywhere. No release stores more levels than its own doors let in. */
function anyGrowth(dice: Dice): unknown {
  return Array.from({ length: dice.whole(1, 6) }, () => {
    const edit = {
      nth: dice.whole(0, 3),
      at: dice.fraction(),
      key: dice.pick(["newMember", "newMember", "__proto__", "constructor"]),
      value: edgeValue(dice, dice.pick<unknown>([1, "text", [{}], {}, true])),
    };
    return isTooDeep(edit.value) ? { ...edit, value: [] } : edit;
  });
}

const isTooDeep = (value: unknown): boolean =>
  typeof value === "string" ? value.startsWith("@@5,000") : isDeeperThan(value, BOUNDS.levels);
