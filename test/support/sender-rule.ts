import type { SenderRule } from "../../src/domain/sender-rules.ts";

/** The rule that is read where `senders` sets nothing but the request sets: it is for all of them, and all is allowed. */
export const SENDER_RULE: SenderRule = {
  requestSets: ["*"],
  write: true,
  hosts: true,
  pools: true,
  dynamicArrays: true,
  attributes: [],
};
