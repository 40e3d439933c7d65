import fc from "fast-check";

/**
 * What random worlds and demands may contain. Each switch is a promise of the allocator that can be tried alone; a property that holds
 * only without one says so where it is stated.
 */
export interface Features {
  /** Nodes that keep their disks and can be started again. */
  readonly deallocated: boolean;
  /** Ceilings per request set and user. */
  readonly caps: boolean;
  /** Jobs that say something about spot. */
  readonly spot: boolean;
  /** Gangs that may span buckets. */
  readonly span: boolean;
  /** `in-a-placement-group`, true or false, and `node.placement_group`. */
  readonly grouped: boolean;
  /** and, or, xor, not. */
  readonly alternatives: boolean;
  /** Pools inside of alternatives. */
  readonly poolChoices: boolean;
  /** Licences that jobs share. */
  readonly pools: boolean;
  /** Tasks that run already, on hosts that are there and on others. */
  readonly bound: boolean;
  /** Also of gangs and colocated jobs. */
  readonly boundGangs: boolean;
  /** Arrays with a placement group of their own, and groups that the configuration names. */
  readonly fixedGroups: boolean;
  /** Buckets and groups that back off or are invalid, a closed cluster, buckets that lacked capacity. */
  readonly refusals: boolean;
  /** Targets of groups. */
  readonly groups: boolean;
  /** Targets, and jobs that need whole nodes in a number. */
  readonly targets: boolean;
  /** Targets that name their nodes, and arrays that are kept for them. */
  readonly names: boolean;
  readonly gangs: boolean;
  readonly colocated: boolean;
  /** Jobs that must have a node to themselves. */
  readonly exclusive: boolean;
  /** Jobs that name arrays, sizes or other properties of nodes. */
  readonly places: boolean;
  /** Limits that leave too little for all. */
  readonly scarce: boolean;
  /** Several arrays and sizes; else one of each. */
  readonly variety: boolean;
}

/** All that is promised. */
export const EVERYTHING: Features = {
  deallocated: true,
  caps: true,
  spot: true,
  span: true,
  grouped: true,
  alternatives: true,
  poolChoices: true,
  pools: true,
  bound: true,
  boundGangs: true,
  fixedGroups: true,
  refusals: true,
  groups: true,
  targets: true,
  names: true,
  gangs: true,
  colocated: true,
  exclusive: true,
  places: true,
  scarce: true,
  variety: true,
};

/** Everything but some. */
export function without(...names: readonly (keyof Features)[]): Features {
  return { ...EVERYTHING, ...Object.fromEntries(names.map((name) => [name, false])) };
}

/** The features with which reasons and remedies are tested. The others have golden files. */
export const PLAIN = without(
  "deallocated",
  "caps",
  "spot",
  "span",
  "grouped",
  "alternatives",
  "poolChoices",
  "pools",
  "boundGangs",
  "fixedGroups",
  "names",
);

/** Some of the features, each as often absent as present. */
export function anyPartOf(features: Features): fc.Arbitrary<Features> {
  const parts = Object.fromEntries(
    Object.entries(features).map(([name, isOn]) => [name, isOn === true ? fc.boolean() : fc.constant(false)]),
  );
  return fc.record(parts).map((drawn) => ({ ...features, ...drawn }));
}
