import type { Constraint } from "./constraint.ts";
import type { Demand } from "./demand.ts";
import type { MachineType } from "./ids.ts";
import { machineType } from "./ids.ts";
import type { Scalar } from "./resources.ts";
import { isPattern } from "./shell-pattern.ts";

/**
 * The VM sizes that a cluster offers, by what is left of a name without case, `_` and `Standard_`. CycleCloud's documentation writes
 * `Standard_D4v3` for Standard_D4_v3. A name that differs from exactly one size in these only is taken for it.
 */
export class SizeNames {
  /** `several`: it stands for more than one size. */
  readonly #byCore = new Map<string, MachineType | "several">();
  readonly #exact = new Set<string>();
  /** Equal jobs share the list of their constraints, and so do those that are spelled anew. */
  readonly #lists = new Map<readonly Constraint[], readonly Constraint[]>();

  /** What was taken for an offered size so far: as it was written, and what is meant. */
  readonly taken = new Map<string, MachineType>();
  /** The names so far that stand for no offered size. */
  readonly unknown = new Set<string>();

  constructor(offered: Iterable<MachineType>) {
    for (const type of offered) {
      if (this.#exact.has(type)) continue;
      this.#exact.add(type);
      const core = coreOf(type);
      const known = this.#byCore.get(core);
      const isNew = known === undefined || known.toLowerCase() === type.toLowerCase();
      this.#byCore.set(core, isNew ? (known ?? type) : "several");
    }
  }

  /** The offered size that is meant. The name itself if it is offered, or stands for none or several. */
  of(name: MachineType): MachineType {
    if (this.#exact.has(name)) return name;
    const found = this.#byCore.get(coreOf(name));
    if (found === undefined) this.unknown.add(name);
    if (found === undefined || found === "several") return name;
    this.taken.set(name, found);
    return found;
  }

  /** The demand with the sizes that are meant. The same object if all are offered as they are written. */
  inDemand<D extends Demand>(demand: D): D {
    if (demand.kind === "job") {
      const { constraints } = demand;
      const spelled = this.#lists.get(constraints) ?? this.#inAll(constraints);
      this.#lists.set(constraints, spelled);
      return spelled === constraints ? demand : { ...demand, constraints: spelled };
    }
    const { machineTypes } = demand;
    if (machineTypes === undefined) return demand;
    const spelled = machineTypes.map((name) => this.of(name));
    return spelled.every((name, at) => name === machineTypes[at])
      ? demand
      : { ...demand, machineTypes: spelled };
  }

  #inAll(all: readonly Constraint[]): readonly Constraint[] {
    const spelled = all.map((one) => this.#in(one));
    return spelled.every((one, at) => one === all[at]) ? all : spelled;
  }

  #in(constraint: Constraint): Constraint {
    switch (constraint.kind) {
      case "property-choice": {
        if (constraint.property !== "vm_size") return constraint;
        const choices = constraint.choices.map((choice) => this.#inChoice(choice));
        const isSame = choices.every((choice, at) => choice === constraint.choices[at]);
        return isSame ? constraint : { ...constraint, choices };
      }
      case "and":
      case "or":
      case "xor": {
        const of = this.#inAll(constraint.of);
        return of === constraint.of ? constraint : { ...constraint, of };
      }
      case "not": {
        const of = this.#in(constraint.of);
        return of === constraint.of ? constraint : { ...constraint, of };
      }
      default:
        return constraint;
    }
  }

  #inChoice(choice: Scalar): Scalar {
    return typeof choice === "string" && choice !== "" && !isPattern(choice)
      ? this.of(machineType(choice))
      : choice;
  }
}

function coreOf(name: string): string {
  return name
    .toLowerCase()
    .replace(/^standard_?/, "")
    .replaceAll("_", "");
}
