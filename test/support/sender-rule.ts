import type { SenderRule } from "../../src/domain/sender-rules.ts";

/** A rule as one reads that says nothing but which request sets it is for: all of them. */
export const SENDER_RULE: SenderRule = {
  requestSets: ["*"],
  write: true,
  hosts: true,
  pools: true,
  dynamicArrays: true,
  attributes: [],
};
