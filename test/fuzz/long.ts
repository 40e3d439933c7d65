import { BOUNDS } from "../../src/wire/json/bounds.ts";
import type { Dice } from "../simulation/dice.ts";
import { anyConfig, anyMessage, anyWhatIf } from "./documents.ts";
import { editAt, placesOf, valueAt } from "./edit.ts";
import type { Input } from "./input.ts";

/** What readers of texts expect at the beginning, and what may be repeated behind that. */
const EXPECTED: readonly [Expected, ...Expected[]] = [
  { begin: "memory::", unit: "1" },
  { begin: "memory::", unit: "a" },
  { begin: "size::1.", unit: "1_" },
  { begin: "1", unit: " " },
  { begin: "", unit: "1" },
  { begin: "", unit: "a" },
  { begin: "node.resources.", unit: "a." },
  { begin: "Standard_F", unit: "1" },
  { begin: "execute:", unit: "1n" },
  { begin: "execute-", unit: "1-" },
  { begin: "5_[", unit: "1," },
  { begin: "*", unit: "[a-z]" },
  { begin: "https://h", unit: "/" },
  { begin: "http://h/api/autostop/p/", unit: "/api/autostop/p/" },
  { begin: "<html>", unit: "<script " },
  { begin: "Basic ", unit: "QQ" },
];

interface Expected {
  readonly begin: string;
  readonly unit: string;
}

const UNITS = ["1", "a", " ", "_", ".", "-", "/", ":", "<", "\t1", "é", "\u200b", "\0"] as const;
const ENDS = ["", "!", "g", "x", "\n", "]"] as const;
/** At the bounds of names, resources and values to match, and as long as any text may be. */
const LENGTHS = [BOUNDS.resource, BOUNDS.name, BOUNDS.constraintText, BOUNDS.text] as const;
/** Characters of all long texts together: as many as the queue lets in. */
const MOST_CHARACTERS = BOUNDS.queueBytes - 100_000;
const MOST_JOBS = 900;

/** A text of a length that some bound allows, which begins like what readers expect. */
function longText(dice: Dice, length: number): string {
  const expected = dice.pick(EXPECTED);
  const { begin, unit } = dice.chance(0.7) ? expected : { ...expected, unit: dice.pick(UNITS) };
  const end = dice.pick(ENDS);
  const room = length - begin.length - end.length;
  return begin + unit.repeat(Math.ceil(room / unit.length)).slice(0, room) + end;
}

type Drawn = Pick<Input, "how" | "document">;

/** Long texts in the places of others: in one place of a document, or in as many jobs as a message can have. */
export function longInput(dice: Dice): Drawn {
  const how = dice.pick(["put", "message", "plan", "config", "status"]);
  const length = dice.pick(LENGTHS);
  if (how === "status") return { how, document: statusEdits(dice, length) };
  const document = how === "plan" ? anyWhatIf(dice) : how === "config" ? anyConfig(dice) : anyMessage(dice);
  const isDemand = how === "put" || how === "message";
  const filled = isDemand && dice.chance(0.5) ? { ...document, jobs: jobsWith(dice, length) } : document;
  return { how, document: withText(dice, filled, longText(dice, length)) };
}

/** A text for a constraint of each kind, in as many jobs as fit. */
function jobsWith(dice: Dice, length: number): readonly object[] {
  const count = Math.min(MOST_JOBS, Math.floor(MOST_CHARACTERS / length));
  return Array.from({ length: count }, (_, index) => {
    const key = dice.pick([
      "mem",
      "ncpus",
      "custom",
      "node.vm_size",
      "node.memory",
      "node.spot",
      "never",
      "pool",
    ]);
    const text = longText(dice, length);
    return {
      name: `j${index}`,
      constraints: [key === "pool" ? { pool: { licence: text } } : { [key]: text }],
    };
  });
}

/** The document with this text for one of its texts. */
function withText(dice: Dice, document: unknown, text: string): unknown {
  const places = placesOf(document).filter((place) => typeof valueAt(document, place) === "string");
  const place = places[dice.whole(0, Math.max(0, places.length - 1))];
  return place === undefined ? document : editAt(document, place, () => text);
}

/** Changes of CycleCloud's next status, as tamper.ts reads them. */
function statusEdits(dice: Dice, length: number): unknown {
  const attribute = dice.pick([
    "Memory",
    "memory",
    "MachineType",
    "machineType",
    "Status",
    "StatusMessage",
    "Name",
    "Region",
  ]);
  return Array.from({ length: dice.pick([1, 3, 10]) }, () => ({
    nth: 0,
    at: dice.fraction(),
    value: longText(dice, length),
    ...(dice.chance(0.6) ? { key: attribute } : {}),
  }));
}
