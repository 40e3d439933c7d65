/** What a slot takes, by position of the resource, in base units. */
export interface Takes {
  readonly resource: readonly number[];
  readonly amount: readonly number[];
  /** Where the ground's pair of resources stands among these, if a slot takes both. */
  readonly pair: readonly [number, number] | undefined;
  /** Only a node where nobody has slots will do. */
  readonly alone: boolean;
  /** No amount is above 0. The job has one slot on a node, then. */
  readonly nothing: boolean;
  /** Several jobs ask for the same. */
  isCommon: boolean;
}
