import type { Constraint } from "../../domain/constraint.ts";
import { SharedConstraints } from "../../domain/shared-constraints.ts";
import { isActing } from "../../domain/shown.ts";
import { readConstraints } from "../constraint/constraint.ts";
import { NO_ACTING } from "../json/fields.ts";
import { newNotes, Problems } from "../json/problems.ts";
import { problemShowing } from "../json/problem.ts";
import { BOUNDS } from "../json/bounds.ts";

/** Longer texts of constraints, and more of them, are not kept: the jobs of a long queue have few different ones. */
const LONGEST_KEPT = 1000;
const MOST_KEPT = 10_000;

/**
 * Reads the constraints of a message's jobs. Equal ones become one object ({@link SharedConstraints}), and what is written in the same way
 * is read once: half of the time that 100,000 jobs take. For each message, a new one.
 */
export class JobConstraints {
  readonly #shared = new SharedConstraints();
  readonly #known = new Map<string, readonly Constraint[]>();

  read(
    value: unknown,
    problems: Problems,
    { exclusive }: { readonly exclusive: boolean },
  ): readonly Constraint[] {
    const key = `${exclusive} ${JSON.stringify(value)}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const before = problems.count;
    const read = this.#shared.of(readJobConstraints(value, problems, { exclusive }));
    if (problems.count === before && key.length <= LONGEST_KEPT && this.#known.size < MOST_KEPT)
      this.#known.set(key, read);
    return read;
  }
}

const EXCLUSIVE: Constraint = { kind: "exclusive", scope: "job", wanted: true };

/**
 * Reads the constraints of a job. `exclusive`: a key of the job reserves its nodes for it alone. Constraints that are probably mistakes are
 * also refused here (see {@link Notes}): a job that no node can match would wait for ever. Members that must all hold are sorted, so that
 * the same job gives the same digest.
 */
function readJobConstraints(
  value: unknown,
  problems: Problems,
  { exclusive = false }: { readonly exclusive?: boolean | undefined } = {},
): readonly Constraint[] {
  if (value === undefined) return exclusive ? [EXCLUSIVE] : [];
  const notes = newNotes();
  const constraints = readConstraints(value, "constraints", notes);
  problems.addAll(notes.problems);
  problems.addAll(notes.doubts);
  const count = constraints.reduce((sum, constraint) => sum + countAll(constraint), 0);
  if (count > BOUNDS.constraints) {
    problems.add(() => ({
      path: "constraints",
      found: `${count} constraints, those inside others included`,
      expected: `at most ${BOUNDS.constraints}`,
    }));
    return [];
  }
  const acting = firstActing(constraints);
  if (acting !== undefined) {
    problems.add(() => problemShowing("constraints", acting, `names of resources and pools ${NO_ACTING}`));
    return [];
  }
  const isSaid = constraints.flatMap(parts).some(isExclusive);
  return inOrder(exclusive && !isSaid ? [...constraints, EXCLUSIVE] : constraints);
}

function countAll(constraint: Constraint): number {
  switch (constraint.kind) {
    case "and":
    case "or":
    case "xor":
      return constraint.of.reduce((sum, one) => sum + countAll(one), 1);
    case "not":
      return 1 + countAll(constraint.of);
    default:
      return 1;
  }
}

/** A name in which a character acts where it is shown. Unlike that of a job or a user, it is not pasted from a language of people. */
function firstActing(constraints: readonly Constraint[]): string | undefined {
  for (const constraint of constraints) {
    const found = actingIn(constraint);
    if (found !== undefined) return found;
  }
  return undefined;
}

function actingIn(constraint: Constraint): string | undefined {
  switch (constraint.kind) {
    case "amount":
    case "resource-choice":
      return isActing(constraint.resource) ? constraint.resource : undefined;
    case "pool":
    case "pool-value":
      return isActing(constraint.pool) ? constraint.pool : undefined;
    case "shared-consumable":
      return [constraint.resource, ...constraint.pools.map(({ source }) => source)].find(isActing);
    case "and":
    case "or":
    case "xor":
      return firstActing(constraint.of);
    case "not":
      return actingIn(constraint.of);
    default:
      return undefined;
  }
}

function inOrder(constraints: readonly Constraint[]): readonly Constraint[] {
  const flat = constraints.flatMap(parts).map(ordered);
  return flat.length < 2 ? flat : flat.sort(compareConstraints);
}

/** Most differ in their subject. Only those that do not are compared completely. */
function compareConstraints(a: Constraint, b: Constraint): number {
  const [subjectA, subjectB] = [subjectOf(a), subjectOf(b)];
  if (subjectA !== subjectB) return subjectA < subjectB ? -1 : 1;
  const [textA, textB] = [JSON.stringify(a), JSON.stringify(b)];
  return textA < textB ? -1 : textA > textB ? 1 : 0;
}

function subjectOf(constraint: Constraint): string {
  switch (constraint.kind) {
    case "amount":
    case "resource-choice":
      return constraint.resource;
    case "property-choice":
      return `node.${constraint.property}`;
    default:
      return constraint.kind;
  }
}

const isExclusive = (constraint: Constraint): boolean =>
  constraint.kind === "exclusive" && constraint.scope === "job" && constraint.wanted;

const parts = (constraint: Constraint): readonly Constraint[] =>
  constraint.kind === "and" ? constraint.of.flatMap(parts) : [constraint];

/** The order of alternatives is a preference, so it stays. */
function ordered(constraint: Constraint): Constraint {
  switch (constraint.kind) {
    case "and":
      return { kind: "and", of: inOrder(constraint.of) };
    case "or":
    case "xor":
      return { kind: constraint.kind, of: constraint.of.map(ordered) };
    case "not":
      return { kind: "not", of: ordered(constraint.of) };
    default:
      return constraint;
  }
}
