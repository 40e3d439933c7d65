/** The number of a bin. A bin is one existing node, or several identical nodes that are in flight or planned. */
export type Bin = number;
