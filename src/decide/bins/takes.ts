/** What a slot takes of a node, by position of the resource, in base units. */
export interface Takes {
  readonly resource: readonly number[];
  /** Amounts in the order of `resource`. */
  readonly amount: readonly number[];
  /** Where the two most used resources (`ResourceColumns.pair`) stand in `resource`. Undefined if a slot does not take both. */
  readonly pair: readonly [number, number] | undefined;
  /** The slot needs a node on which there are no slots. */
  readonly alone: boolean;
  /** No amount is above 0. Such a job gets one slot on each node. */
  readonly nothing: boolean;
  /** More than one job takes exactly this. */
  isCommon: boolean;
}
