/** How a policy chooses nodes for demand. */
export interface Mode {
  readonly preference: "existing-first" | "bucket-order";
  readonly among: "priority" | "cheapest";
}

/** All of them, the default first. */
export const MODES: readonly Mode[] = [
  { preference: "existing-first", among: "priority" },
  { preference: "existing-first", among: "cheapest" },
  { preference: "bucket-order", among: "priority" },
  { preference: "bucket-order", among: "cheapest" },
];
