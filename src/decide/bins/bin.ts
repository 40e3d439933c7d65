/** A bin's number. A bin is one existing node, or so many identical nodes that are in flight or planned. */
export type Bin = number;
